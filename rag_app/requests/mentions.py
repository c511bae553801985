"""A request for mentions: how often in which documents, or every place that says something.

"Which meetings mention e-paper?" is answered by counting words; "Every time the budget was
discussed" by the places that the reader finds, in whatever words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from generator.instances.instances import Instances
from generator.instances.places import Place
from indexing.documents import Document
from indexing.message import N_
from indexing.store.view import StoreView
from indexing.text.english import QUESTION_WORDS
from indexing.text.language import language_of
from indexing.text.terms import stem
from rag_app.requests.german import in_english
from rag_app.requests.listing import MOST_LINES, Line, more, sentence_at
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

MOST_WORDS = 6
"""Words of a phrase whose mentions are counted."""

_NOUN = r"(?P<noun{}>documents?|files?|meetings?|transcripts?|recordings?|sources?|texts?)"
_WHICH = rf"(?:which|what|how many) (?:of )?(?:the |these |my |your |our )?{_NOUN}"
_MENTION = r"(?:mentions?|mentioned|names?|named|refers? to|referred to|contains?)"
_ABOUT = (
    r"(?:discuss|discusses|discussed|covers?|covered|(?:talks?|talked|speaks?|spoke) (?:about|of))"
)
_IS, _DO = r"(?:is|are|was|were)", r"(?:do|does|did)"
_THEY = r"(?:they|people|anyone|anybody|someone|somebody|we|the team|the group)"
_OFTEN, _NAME = r"how (?:often|many times)", r"(?: (?:in|at) (?P<name{}>.+))?"
_FIND = r"(?:list|show|name|find)(?: me)? (?:all )?(?:of )?(?:the )?"
_LITERAL = pattern(
    rf"{_WHICH} (?:all )?{_MENTION} (?P<phrase{{}}>.+)",
    rf"(?:in )?{_WHICH} {_IS} (?P<phrase{{}}>.+) mentioned",
    rf"(?:in )?{_WHICH} {_DO} {_THEY} mention (?P<phrase{{}}>.+)",
    rf"where {_IS} (?P<phrase{{}}>.+?) mentioned{_NAME}",
    rf"where {_DO} {_THEY} mention (?P<phrase{{}}>.+?){_NAME}",
    rf"{_OFTEN} {_IS} (?P<phrase{{}}>.+?) mentioned{_NAME}",
    rf"{_OFTEN} {_DO} (?P<name{{}}>.+?) mention (?P<phrase{{}}>.+)",
    rf"{_DO} any (?:of )?(?:the |these |my |your |our )?{_NOUN} mention (?P<phrase{{}}>.+)",
    rf"{_FIND}{_NOUN} (?:that|which) {_MENTION} (?P<phrase{{}}>.+)",
    rf"{_FIND}(?:mentions of|places (?:that|which) mention) (?P<phrase{{}}>.+?){_NAME}",
)
_PERHAPS = pattern(
    rf"{_WHICH} (?:all )?{_ABOUT} (?P<phrase{{}}>.+)",
    rf"(?:in )?{_WHICH} {_IS} (?P<phrase{{}}>.+) (?:discussed|talked about)",
    rf"(?:in )?{_WHICH} {_DO} {_THEY} (?:discuss|talk about|speak of) (?P<phrase{{}}>.+)",
)
_NOWHERE = (
    "“{phrase}” is not mentioned there. Only these words were looked for, in all their forms.",
    "“{phrase}” is not mentioned in any of {among}. Only these words were looked for, in all their "
    "forms.",
)
_SPOKEN = {"meeting", "transcript", "recording"}
_CLAUSE = {"and", "who", "what", "which", "that", "how", "why", "when", "where", "whether", "if"}
_ARTICLE = re.compile(
    r"^(?:(?:the|an?|any|some)\s+)?(?:(?:word|words|term|name)\s+)?", re.IGNORECASE
)
_WHERE = re.compile(r"\s+(?:anywhere|somewhere|at all|in (?:them|it|any of them))$", re.IGNORECASE)
_PART = re.compile(r"[^\W_]+")


def match(words: Words) -> Target | None:
    """A request for the mentions of a phrase; "discuss" asks for them where there are any."""
    literal = groups_of(_LITERAL, words.text)
    groups = literal or groups_of(_PERHAPS, words.text)
    if not groups:
        return None
    phrase = phrase_in(groups["phrase"])
    ids: tuple[str, ...] = words.scope
    if "name" in groups:
        ids = words.resolve(groups["name"])
        if not ids:
            return None
    if not phrase:
        return None
    spoken = groups.get("noun", "").lower().rstrip("s") in _SPOKEN
    read_as = N_("a count of the mentions of “%(phrase)s”", phrase=phrase)
    if "name" in groups:
        titles = words.catalogue.titles(ids)
        read_as = N_(
            "a count of the mentions of “%(phrase)s” in %(titles)s", phrase=phrase, titles=titles
        )
    return Target("mentions", read_as, ids, spoken, phrase, bool(literal))


def phrase_in(text: str) -> str:
    """What is to be mentioned, "" where it is more than a phrase."""
    text = _ARTICLE.sub("", _WHERE.sub("", text.strip()))
    quoted = re.fullmatch(r"[\"'“‘](.+)[\"'”’]", text)  # noqa: RUF001 - typographic quotes
    text = quoted[1] if quoted else text
    parts = [part.lower() for part in _PART.findall(text)]
    if not 0 < len(parts) <= MOST_WORDS or (not quoted and _CLAUSE & set(parts)):
        return ""
    return " ".join(text.split()) if set(parts) - QUESTION_WORDS else ""


@dataclass(frozen=True, slots=True)
class Mentions:
    """The mentions in one document, by their first characters, ascending."""

    document: Document
    offsets: tuple[int, ...]


def mentions(phrase: str, target: Target, store: StoreView) -> Iterator[Mentions]:
    """The mentions in each document that has any; names before what somebody says do not count.

    Each of the words, in a row, matches those of the same stem.
    """
    transcripts = store.transcripts()
    for identity, (_, text) in zip(store.identities(), store.texts(), strict=True):
        if target.documents and identity.id not in target.documents:
            continue
        if target.spoken and identity.id not in transcripts:
            continue
        language = language_of(text)
        phrases = [
            one for one in target.phrases or (phrase,) if _expression(one, language).search(text)
        ]
        if not phrases:
            continue
        document = store.document(identity.id)
        offsets = {at for one in phrases for at in offsets_of(one, language, document)}
        if offsets:
            yield Mentions(document, tuple(sorted(offsets)))


@lru_cache(maxsize=64)
def _expression(phrase: str, language: str) -> re.Pattern[str]:
    """Words that begin as the stems of the phrase do, with a little between them."""
    parts = [part.lower() for part in _PART.findall(phrase)]
    row = r"\W{1,3}".join(rf"({re.escape(_beginning(part, language))}[^\W_]*)" for part in parts)
    return re.compile(rf"(?<![^\W_]){row}(?![^\W_])", re.IGNORECASE)


def _beginning(word: str, language: str) -> str:
    """What every word of the same stem begins with: a final "y" is an "i" in the stem."""
    pairs = takewhile(
        lambda pair: pair[0] == pair[1], zip(word, stem(word, language), strict=False)
    )
    shared = "".join(letter for letter, _ in pairs)
    return shared.rstrip("iy") or shared or word


def offsets_of(phrase: str, language: str, document: Document) -> Iterator[int]:
    """Where a document has the words of a phrase in a row, in any form, outside of labels."""
    stems = [stem(part.lower(), language) for part in _PART.findall(phrase)]
    for match in _expression(phrase, language).finditer(document.text):
        utterance = document.utterance_at(match.start())
        if utterance is not None and match.start() < utterance.text_start:
            continue
        if [stem(word.lower(), language) for word in match.groups()] == stems:
            yield match.start()


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """How often and in how many documents, then each with its first sentence."""
    documents = sorted(mentions(target.phrase, target, store), key=lambda each: -len(each.offsets))
    noun = "transcript" if target.spoken else "document"
    among = len(_scope(target, store))
    times = sum(len(each.offsets) for each in documents)
    wording = target.wording
    if not documents and not target.literal:
        return
    if not documents:
        all_of = wording.count(among, f"{noun} among")
        yield Line(wording.say(_NOWHERE[among != 1], phrase=target.phrase, among=all_of))
        return
    yield Line(
        wording.say(
            "“{phrase}” is mentioned {times} in {number} of {among}:",
            phrase=target.phrase,
            times=wording.count(times, "time"),
            number=wording.number(len(documents)),
            among=wording.count(among, f"{noun} among"),
        )
    )
    for each in documents[:MOST_LINES]:
        yield _line(each, store, wording)
    remedy = wording.say("name a document to count in it alone")
    yield from more(len(documents), wording, remedy)


def _line(mentions: Mentions, store: StoreView, wording: Wording) -> Line:
    """How often one document mentions it, and the first sentence that does."""
    title = mentions.document.title
    times = wording.count(len(mentions.offsets), "time")
    quote = sentence_at(store, mentions.document, mentions.offsets[0])
    if quote is None:
        return Line(f"{title}, {times}")
    if quote.speaker:
        first = "{title}, {times}, first by {speaker}:"
        return Line(wording.say(first, title=title, times=times, speaker=quote.speaker), quote)
    return Line(wording.say("{title}, {times}, first:", title=title, times=times), quote)


def _scope(target: Target, store: StoreView) -> set[str]:
    ids = set(target.documents) or {identity.id for identity in store.identities()}
    return ids & store.transcripts() if target.spoken else ids


# Every place

_SHOW = r"(?:(?:list|show|find|give|name|collect|quote)(?: me| us)? )"
_EVERY = r"(?:every|each|all(?: of)?(?: the)?)(?: single)?"
_PLACES = r"(?:times?|places?|passages?|instances?|occasions?|occurrences?|moments?|statements?)"
_IN_WHICH = r"(?: (?:that|when|where|of|on|about|in which|at which|on which))?"
_DISCUSSED = r"(?:discussed|raised|brought up|talked about|spoken (?:about|of)|mentioned|named)"
_INSTANCES = pattern(
    rf"{_SHOW}?{_EVERY} {_PLACES}{_IN_WHICH} (?P<about{{}}>.+?)"
    rf" (?:(?:was|were|is|are|has been|have been) {_DISCUSSED}|(?:came|comes|come) up)",
    rf"{_SHOW}?{_EVERY} {_PLACES}{_IN_WHICH} (?P<phrase{{}}>.+)",
    rf"{_SHOW}?everything (?:that )?(?:(?:was|is|has been) )?said (?:about|on) (?P<about{{}}>.+)",
    r"how (?:often|many times) (?P<happened{}>(?:did|have|has) (?:we|the (?:team|group|board"
    r"|committee|council)) .+)",
)


def match_every(words: Words) -> Target | None:
    """A request for every place where something is said."""
    if not groups_of(_INSTANCES, words.text):
        return None
    return Target("instances", N_("a request for every place that says so"), words.scope)


def asked_in(question: str) -> str:
    """What the reader is asked for each passage, where a question asks for every one."""
    bare = " ".join(question.split()).strip(" ?!.")
    groups = groups_of(_INSTANCES, bare) or groups_of(_INSTANCES, in_english(question))
    if about := groups.get("about"):
        return f"What was said about {about}?"
    return f"{groups.get('phrase') or groups.get('happened') or bare}?"


STATED = N_("The number, as it is said")
ABOUT = N_(
    "About {number} places ({low} to {high}); {found} that may say it were found, "
    "{first} to {last} shown"
)
COUNTED = N_(
    "Counted, as no place was found that says it: about {number} places ({low} to {high}); {found} "
    "that may say it were found, {first} to {last} shown"
)


def told(found: Instances) -> tuple[str, dict[str, int]]:
    """How many there are, `ABOUT` or `COUNTED`, and what stands in its braces.

    The estimate weighs each place by its probability, so that fewer may say it than were found.
    """
    about = found.estimate
    numbers = (*map(round, (about.number, about.low, about.high)), found.found)
    shown = found.start + bool(found.places), found.start + len(found.places)
    names = ("number", "low", "high", "found", "first", "last")
    values = dict(zip(names, (*numbers, *shown), strict=True))
    return (COUNTED if found.counted else ABOUT), values


def lines_of_every(found: Instances, wording: Wording) -> Iterator[Line]:
    """How many there are, then each of a page; none where none was found."""
    if not found.found:
        return
    if found.stated is not None:
        yield Line(f"{wording.say(STATED)}:", found.stated.statement)
    message, values = told(found)
    yield Line(f"{wording.say(message, **values)}:")
    for one in found.places:
        yield Line(_place(one, found, wording), one.statement)
    if values["last"] < found.found:
        yield Line(wording.say("rag-app every shows all"))


def _place(place: Place, found: Instances, wording: Wording) -> str:
    day = found.days[place.document.id] or wording.say("no date")
    return ", ".join(filter(None, (place.document.title, day, place.statement.speaker))) + ":"
