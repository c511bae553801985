"""The documents that a question names: by file, title, part, number or place in a series."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from indexing.cached_property import cached_property
from indexing.filter import Filter
from indexing.store.derived.name_keys import beginning, joined, own_names, words_of
from indexing.store.view import DocumentEntry, NamedDocument
from indexing.text.english import DOCUMENT_WORDS, MEETING_WORDS, MONTHS, ORDINALS
from indexing.text.terms import content_stems
from rag_app.requests.occasions import (
    KnownMeetings,
    Meetings,
    nothing_in_words,
    of_documents,
    selects,
)

LONGEST = 16  # words of a name
MANY = 20  # documents that one name may stand for, as a file of meetings does

_DATES = frozenset(month.lower() for month in MONTHS)
_WORD = re.compile(r"[^\W_]+")
ID = re.compile(r"[0-9a-f]{12}")
_DETERMINER = r"(?:(?:the|this|that|our|my|your|whole|entire|full|complete|same)\s+)*"
_NOUNS = "|".join(sorted(DOCUMENT_WORDS | MEETING_WORDS))
_LAST_NOUN = re.compile(rf"\s+(?:{_NOUNS})$", re.IGNORECASE)
_SOURCES = "document|file|transcript|recording"
_NOUN = rf"(?:(?:{_NOUNS})\s+)?(?:(?:called|named|titled)\s+)?"
_THIS = re.compile(
    rf"(?:it|this|that|(?:the|this|that)\s+{_DETERMINER}(?:{_NOUNS}))", re.IGNORECASE
)

# What stands before a name that the question is not about: "since heron-3".
_NOT_THERE = re.compile(
    r"\b(?:after|since|before|until|till|than|besides?|except|except for|outside|outside of"
    rf"|without|following|apart from|other than|not in|unlike|like|instead of|ahead of)\s+"
    rf"{_DETERMINER}{_NOUN}[\"'“]?$",
    re.IGNORECASE,
)
# What stands before a name that is a place to look at.
_PLACE = re.compile(
    r"(?:\b(?:in|within|inside|from|at|during|of|per|by|to|for|search|read|open|and|both|between)"
    rf"|according to|,)\s+{_DETERMINER}{_NOUN}[\"'“]?$",
    re.IGNORECASE,
)
# What stands before a name that can only be a document's: "in the file budget".
_SOURCE = re.compile(
    rf"\b(?:in|from|of|to)\s+(?:the|this|my|our)\s+(?:{_SOURCES})"
    r"\s+(?:(?:called|named|titled)\s+)?[\"'“]?$",
    re.IGNORECASE,
)
_ACCORDING = re.compile(rf"\baccording to\s+{_DETERMINER}{_NOUN}[\"'“]?$", re.IGNORECASE)
_DETERMINED = re.compile(r"\b(?:the|this|our|my|your)\s+[\"'“]?$", re.IGNORECASE)
_SAYS = re.compile(
    r"[\"'”]?\s+(?:says?|said|mentions?|states?|contains?|recommends?|covers?|defines?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a question that names documents, by their ids."""

    start: int
    end: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name of documents: its words, and the documents."""

    words: tuple[str, ...]
    ids: tuple[str, ...]
    file: bool = False  # a file's name with its suffix, or an id


class Catalogue:
    """The documents of a corpus by the names that people call them.

    The people are everybody who takes part in each, by id, the names by their letters and digits;
    None for all that there are.
    """

    def __init__(
        self,
        entries: Sequence[DocumentEntry | NamedDocument],
        transcripts: Collection[str],
        people: Mapping[str, frozenset[str]] | None = None,
        names: Mapping[str, Name] | None = None,
    ) -> None:
        self._given_names = names
        self._entries = {entry.id: entry for entry in entries}
        self._transcripts = frozenset(transcripts)
        self._people = people or {}

    @classmethod
    def of(
        cls, documents: Sequence[NamedDocument], names: Mapping[str, Name] | None = None
    ) -> Catalogue:
        """Of documents as a store has them."""
        people = {
            one.id: frozenset((*one.occasion.participants, *one.speakers)) for one in documents
        }
        return cls(documents, [one.id for one in documents if one.speakers], people, names)

    @property
    def entries(self) -> Mapping[str, DocumentEntry | NamedDocument]:
        """The documents by id."""
        return self._entries

    @property
    def transcripts(self) -> frozenset[str]:
        """Ids of those in which somebody speaks."""
        return self._transcripts

    def title_words(self, words: Sequence[str]) -> frozenset[str]:
        """Those of some words, in lower case, that stand in a title."""
        every = {word for one in self.entries.values() for word in words_of(one.title)}
        return frozenset(every.intersection(words))

    def is_larger_than(self, number: int) -> bool:
        """Whether there are more documents than so many."""
        return len(self.entries) > number

    def meetings(self, where: Filter) -> Meetings:
        """The documents that a filter admits, by day and people."""
        ids = self.admitted(where)
        days = {id_: day for id_ in ids if (day := self.entries[id_].occasion.day)}
        people = frozenset(name for id_ in ids for name in self._people.get(id_, ()))
        return KnownMeetings(days, people, self.transcripts)

    def count(self, where: Filter) -> int:
        """How many documents a filter admits."""
        return len(self.admitted(where))

    def admits_any(self, where: Filter) -> bool:
        """Whether a filter admits a document."""
        return self.count(where) > 0

    def days(self, where: Filter) -> list[str]:
        """Days of documents that a filter admits, the first and last; "" for each without one."""
        return [self.entries[id_].occasion.day for id_ in self.admitted(where)]

    def admitted(self, where: Filter) -> tuple[str, ...]:
        """Ids of the documents that a filter admits."""
        return tuple(
            one.id
            for one in self.entries.values()
            if where.admits(
                id_=one.id,
                title=one.title,
                path=one.path,
                day=one.occasion.day,
                people=self._people.get(one.id, ()),
            )
        )

    def nothing_within(self, where: Filter) -> str:
        """A message if no document has the path, speaker, dates and people of a filter; else ""."""
        if not selects(where) or self.admits_any(of_documents(where)):
            return ""
        undated = replace(where, since=None, until=None, participants=(), speaker=None)
        return nothing_in_words(where, self.days(undated) if where.is_of_occasions else ())

    def people_called(self, name: str) -> tuple[str, ...]:
        """Everybody of whose name this is a word or several, in any case."""
        sought, people = {*words_of(name)}, self.meetings(Filter()).people
        return tuple(sorted(one for one in people if sought and sought <= {*words_of(one)}))

    def all_dated(self, where: Filter) -> bool:
        """Whether every transcript that a filter admits has a date."""
        spoken = self.transcripts.intersection(self.admitted(where))
        return all(self.entries[id_].occasion.day for id_ in spoken)

    def titles(self, ids: Sequence[str]) -> str:
        """The documents' titles, as in a sentence: "a, b and c"."""
        titles = [self.entries[id_].title for id_ in ids]
        return " and ".join(part for part in (", ".join(titles[:-1]), titles[-1]) if part)

    def mentions(self, question: str) -> list[Mention]:
        """Where a question names documents to look at, in order.

        None where a name may be a thing of the world rather than a document, and none at all where
        the question is about what lies outside one ("after heron-3").
        """
        mentions = [each for each in self._candidates(question) if self._is_meant(question, *each)]
        if any(_NOT_THERE.search(question[: at.start]) for at, _ in mentions):
            return []
        return [at for at, _ in mentions]

    def resolve(self, text: str, scope: Collection[str] = ()) -> tuple[str, ...]:
        """The documents that a phrase stands for as a whole; none where it is something else.

        Such as "meeting-2", "the budget meeting", "heron-1 and heron-2", "this document". The scope
        is what the question is limited to; none for all.
        """
        ids: list[str] = []
        for part in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*", text.strip()):
            matches = self._resolve_one(part.strip(" \"'“”"), scope)
            if not matches:
                return self._resolve_one(text.strip(" \"'“”"), scope)
            ids += matches
        return tuple(dict.fromkeys(ids))

    def titled(self, phrase: str) -> tuple[str, ...]:
        """The one document whose title has all content words of a phrase, at least two.

        In any order and form: "the heat pump study" is "Heat pumps in houses: a field study".
        """
        sought = set(content_stems(phrase))
        if len(sought) < 2:
            return ()
        matches = [id_ for id_, stems in self._title_stems.items() if sought <= stems]
        return tuple(matches) if len(matches) == 1 else ()

    def _resolve_one(self, text: str, scope: Collection[str]) -> tuple[str, ...]:
        if _THIS.fullmatch(text):
            every = tuple(scope) or (() if self.is_larger_than(1) else tuple(self.entries))
            return every if len(every) == 1 else ()
        name = self._called(text)
        return self._within(name.ids if name else self._called_in_part(text), scope)

    def _called(self, text: str) -> Name | None:
        """What a phrase is as a whole, with or without what it calls a document."""
        bare = _bare(text)
        called, noun = re.sub(rf"^{_NOUN}", "", bare, flags=re.IGNORECASE), _LAST_NOUN.search(bare)
        for form in (text, bare, called, bare[: noun.start()] if noun else bare):
            if not form or (form == bare != text and form.isalpha()):
                continue  # "the budget" may well be the thing
            if name := self._names.get(joined(form)):
                return name
        return None

    def _called_in_part(self, text: str) -> tuple[str, ...]:
        """The one document of whose name a phrase is a part."""
        bare = _bare(text)
        return self._part_of_name(words_of(bare), _LAST_NOUN.search(bare) is not None)

    def _part_of_name(self, words: tuple[str, ...], has_noun: bool) -> tuple[str, ...]:
        """The one document whose name holds two words or more in a row.

        One word is enough for a transcript that is called a meeting: "the budget meeting".
        """
        matches = self._named_with(words) if len(words) > 1 else set()
        if not matches and has_noun and len(words) > 1:
            matches = self._named_with(words[:-1])
            matches = matches if len(words) > 2 else matches & self.transcripts
        return tuple(matches) if len(matches) == 1 else ()

    def _named_with(self, words: tuple[str, ...]) -> set[str]:
        row = f" {' '.join(words)} "
        names = (name for name in self._names.values() if row in f" {' '.join(name.words)} ")
        return {id_ for name in names for id_ in name.ids}

    def _within(self, ids: Sequence[str], scope: Collection[str]) -> tuple[str, ...]:
        return tuple(id_ for id_ in ids if not scope or id_ in scope)

    def _candidates(self, question: str) -> Iterator[tuple[Mention, Name]]:
        """The longest names in a question, whatever it means by them."""
        words = list(_WORD.finditer(question))
        at = 0
        while at < len(words):
            for length in range(min(LONGEST, len(words) - at), 0, -1):
                row = words[at : at + length]
                name = self._names.get("".join(word.group().lower() for word in row))
                if name is not None:
                    yield Mention(row[0].start(), row[-1].end(), name.ids), name
                    at += length
                    break
            else:
                at += 1

    def _is_meant(  # noqa: PLR0911 - a rule a line
        self, question: str, at: Mention, name: Name
    ) -> bool:
        """Whether the question means documents by it, and not something of the world."""
        before, written, after = (
            question[: at.start],
            question[at.start : at.end],
            question[at.end :],
        )
        words = name.words
        if name.file and ("." in written or len(words) == 1):
            return True
        if all(word.isdigit() or word in _DATES for word in words):
            return False
        if _SOURCE.search(before):
            return True
        joined = re.fullmatch(r"[^\W_]+([-_.][^\W_]+)+", written) is not None
        numbered = any(character.isdigit() for character in written)
        spoken = self.transcripts.issuperset(at.ids)
        place = _PLACE.search(before) is not None
        cited = _ACCORDING.search(before) is not None or _SAYS.match(after) is not None
        if numbered and (joined or len(words) == 1):
            return spoken or cited or len(words) > 2 or not DOCUMENT_WORDS.isdisjoint(words)
        if spoken and not joined and (numbered or words[0] in ORDINALS):
            return place and not MEETING_WORDS.isdisjoint(words)
        if len(words) > 2 and (joined or numbered):
            return cited or (joined and place)
        called = words[-1] in DOCUMENT_WORDS and len(words) > 1
        return called and (words[0] == "the" or _DETERMINED.search(before) is not None)

    @cached_property
    def _title_stems(self) -> dict[str, frozenset[str]]:
        return {id_: frozenset(content_stems(one.title)) for id_, one in self.entries.items()}

    @cached_property
    def _names(self) -> Mapping[str, Name]:
        """Names by their letters and digits: "kick-off" and "kickoff" are one."""
        given = self._given_names
        return grouped_names(self._every_name()) if given is None else given

    def _every_name(self) -> Iterator[tuple[str, tuple[str, ...], bool]]:
        beginnings: dict[tuple[str, ...], set[str]] = {}
        for id_, entry in self.entries.items():
            yield from names_of(entry)
            file = PurePosixPath(entry.path)
            beginnings.setdefault(beginning(file.stem), set()).add(id_)
        for words, ids in beginnings.items():
            if len(ids) == 1:
                yield next(iter(ids)), words, False
        yield from self._series(beginnings)

    def _series(
        self, beginnings: dict[tuple[str, ...], set[str]]
    ) -> Iterator[tuple[str, tuple[str, ...], bool]]:
        """Names such as "meeting 3" and "third meeting"; all transcripts must be in one series."""
        numbered = {
            words: next(iter(ids))
            for words, ids in beginnings.items()
            if len(words) > 1 and words[-1].isdigit() and len(ids) == 1
            if self.transcripts.issuperset(ids)
        }
        if len(numbered) < 2 or len(numbered) != len(self.transcripts):
            return
        if len({words[:-1] for words in numbered}) != 1:
            return
        for words, id_ in numbered.items():
            number = int(words[-1])
            yield id_, ("meeting", str(number)), False
            if 1 <= number <= len(ORDINALS):
                yield id_, (ORDINALS[number - 1], "meeting"), False


def _bare(text: str) -> str:
    """A phrase without "the" and the like before it."""
    return re.sub(rf"^{_DETERMINER}", "", text, flags=re.IGNORECASE)


def names_of(entry: DocumentEntry | NamedDocument) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """(id, words, whether they are an id or a file's name) of each name of a document."""
    if ID.fullmatch(entry.id):
        yield entry.id, (entry.id,), True
    for words, file in own_names(entry.path, entry.part, entry.title):
        yield entry.id, words, file


def grouped_names(every: Iterable[tuple[str, tuple[str, ...], bool]]) -> dict[str, Name]:
    """Names by their letters and digits, but for those of many documents."""
    grouped: dict[str, tuple[tuple[str, ...], dict[str, None], bool]] = {}
    for id_, words, file in every:
        if not words:
            continue
        _, ids, is_file = grouped.setdefault("".join(words), (words, {}, file))
        ids[id_] = None
        grouped["".join(words)] = (words, ids, is_file or file)
    return {
        key: Name(words, tuple(ids), file)
        for key, (words, ids, file) in grouped.items()
        if len(ids) <= MANY
    }
