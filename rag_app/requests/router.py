"""What a question asks for: an answer from the store, or a search, of the documents it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from generator.answer import AnswerReady, Event
from generator.instances.instances import Instances
from generator.prompt.follow_up import Turn
from generator.request import AskRequest
from indexing.message import N_, joined
from indexing.store.view import StoreView
from indexing.text.days.in_words import day_pattern
from indexing.text.language import ENGLISH
from indexing.text.vocabulary import words
from rag_app.requests import (
    decisions,
    documents,
    introduction,
    mentions,
    section,
    speakers,
    standing,
    summary,
)
from rag_app.requests.german import in_english
from rag_app.requests.listing import Line, events
from rag_app.requests.naming.catalogue import Catalogue, Mention
from rag_app.requests.naming.stored_catalogue import StoredCatalogue
from rag_app.requests.naming.subject import subject_of, tidy
from rag_app.requests.occasions import count_in_words, limited, occasion_mentions
from rag_app.requests.summary import MOST_DOCUMENTS
from rag_app.requests.target import Target, Words, pattern
from rag_app.requests.wording import GERMAN
from retriever.spelling import Correction, Spelling


@dataclass(frozen=True, slots=True)
class RequestKind:
    """A kind of request that is answered from the store: what asks for it, and its lines.

    There are none where they are of all that a search finds.
    """

    match: Callable[[Words], Target | None]
    lines: Callable[[Target, StoreView], Iterator[Line]] | None = None


KINDS: dict[str, RequestKind] = {
    "documents": RequestKind(documents.match, documents.lines),
    "mentions": RequestKind(mentions.match, mentions.lines),
    "speakers": RequestKind(speakers.match, speakers.lines),
    "section": RequestKind(section.match, section.lines),
    "decisions": RequestKind(decisions.match, decisions.lines),
    "summary": RequestKind(summary.match, summary.lines),
    "introduction": RequestKind(introduction.match, introduction.lines),
    "instances": RequestKind(mentions.match_every),
}
"""By `Answer.kind`, in the order in which they are tried."""

WRITTEN = frozenset({"summary", "decisions"})
"""Kinds that a language model writes, from the documents named, where it is asked to."""


_POLITE = pattern(
    r"(?:please|hi|hello|hey|ok|okay|so|now|well)",
    r"(?:can|could|would|will) (?:you|i|we)(?: please)?(?: (?:tell me|show me|say|have|get|see))?",
    r"(?:i(?:'d| would) like|i want) (?:you )?(?:to (?:know|have|see)|a(?=\s+list))?",
    r"(?:tell|give) me",
    r"do you know",
)
_OPENING = re.compile(rf"^(?:(?:{_POLITE.pattern})[\s,:]+)+", re.IGNORECASE)
_CLOSING = re.compile(r"[\s,]*(?:\bplease|\bfor me|\bthanks|\bthank you)?[\s?!.]*$", re.IGNORECASE)
_AND = re.compile(
    r"(?:and|what about|how about|and what about|and how about|same for|the same for"
    r"|und|(?:und )?was ist mit)"
    r"(?: (?P<place>in|at|for|of|from|bei|von|aus))? (?P<name>.+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Route:
    """How a request is answered."""

    request: AskRequest  # the request, limited to the documents that its question names
    target: Target  # what it asks for
    # the answer, where it is computed; None where the question is looked up
    lines: tuple[Line, ...] | None = None
    limits: str = ""  # the dates and people that its question names, in plain words; "" for none
    corrections: tuple[Correction, ...] = ()  # its misspelled words
    abstains: bool = False  # whether there is nothing to look in, and the lines say so
    # the same without these dates and people, for where nothing is found with them; None where the
    # question names none, or a meeting that is there, or that would have its date
    everywhere: Route | None = None
    unlimited: str = ""  # the dates and people that were given up so; "" for none
    # what a passage has to match for that: the day or month asked for, which no document is of;
    # None where any will do
    required: re.Pattern[str] | None = None

    @property
    def read_as(self) -> str:
        """How the question was read, in plain words; "" for a plain one."""
        told: str = self.target.read_as
        kind = told or N_("a question")
        if self.unlimited:
            told = N_(
                "%(kind)s; no document %(limits)s answers it, so all were searched",
                kind=kind,
                limits=self.unlimited,
            )
        elif self.limits:
            told = N_("%(kind)s, limited to %(limits)s", kind=kind, limits=self.limits)
        return joined([told or kind, *map(str, self.corrections)]) if self.corrections else told

    def with_every(self, found: Instances) -> Route:
        """The same, with the lines of every place that was found; a question where none was."""
        if lines := tuple(mentions.lines_of_every(found, self.target.wording)):
            return replace(self, lines=lines)
        return replace(self, target=Target("question", ""))

    def corrected(self, corrections: tuple[Correction, ...]) -> Route:
        """The same of a question with misspelled words."""
        everywhere = self.everywhere and replace(self.everywhere, corrections=corrections)
        return replace(self, corrections=corrections, everywhere=everywhere)

    def _spelled(self, quotes: Iterable[str]) -> Route:
        """The same with what is read as a name in the quotes of its answer."""
        found = (Correction(*pair) for pair in self.request.aliases.spelled(quotes).items())
        return replace(self, corrections=tuple(dict.fromkeys((*self.corrections, *found))))

    def events(self, seconds: float) -> Iterator[Event]:
        """The events of a computed answer, which took so long."""
        quoted = [line.quote.text for line in self.lines or () if line.quote]
        target = replace(self.target, read_as=self._spelled(quoted).read_as)
        return events(self.request, target, self.lines or (), seconds, abstained=self.abstains)

    def marked(self, event: AnswerReady) -> AnswerReady:
        """The last event of an answer that was looked up, with how the question was read."""
        read_as = self._spelled([one.quote for one in event.answer.citations]).read_as
        answer = replace(event.answer, kind=self.target.kind, read_as=read_as)
        return AnswerReady(answer)


MOST_SCOPES = 32  # collections of people, whose documents are remembered by name


class Router:
    """Routes requests to a corpus; remembers the names of its documents."""

    def __init__(self) -> None:
        self._catalogues: dict[tuple[str, tuple[int, ...] | None], Catalogue] = {}

    def route(
        self, request: AskRequest, store: StoreView, spelling: Spelling | None = None
    ) -> Route:
        """How a request is answered from a store, which is read at one moment.

        The store is limited to the collections of the request. Without a spelling misspelled words
        stay as they are.
        """
        catalogue = self._catalogue(store)
        told = standing.target_of(request.question) if request.read_as == "auto" else None
        if told is not None:  # what is told of later may be in no document yet
            return Route(request, told, standing.lines(told))
        aliases = request.aliases
        text = aliases.named(request.question)
        spelled = aliases.spelled([request.question]).items()
        corrections = tuple(Correction(*pair) for pair in spelled)
        if spelling and request.read_as != "question":
            names = catalogue.title_words(words(text))
            names |= {word for one in aliases.of(text) for word in words(one.name)}
            text, misspelled = spelling.corrected(text, known=names)
            corrections += misspelled
        request = replace(request, subject=text) if corrections else request
        base = route(request, catalogue).corrected(corrections)
        kind = KINDS.get(base.target.kind)
        if kind is None or kind.lines is None:
            return base
        target = replace(base.target, phrases=aliases.variants(base.target.phrase))
        lines = tuple(kind.lines(target, store))
        if not lines:  # there is nothing to list: looked up after all
            looked_up = _as_question(base.request, base.request.subject, catalogue)
            return replace(looked_up, limits=base.limits, corrections=corrections)
        return replace(base, lines=lines)

    def _catalogue(self, store: StoreView) -> Catalogue:
        """The documents by name: all that are remembered, or as a question needs them."""
        known = self._catalogues.get((store.revision, store.scope))
        return known or StoredCatalogue(store, lambda: self._whole(store))

    def _whole(self, store: StoreView) -> Catalogue:
        """All documents by name, which are remembered."""
        state = store.revision, store.scope
        catalogue = self._catalogues.get(state) or Catalogue.of(store.named())
        current = {key: one for key, one in self._catalogues.items() if key[0] == state[0]}
        latest = [*current.items()][-MOST_SCOPES + 1 :]
        self._catalogues = dict([*latest, (state, catalogue)])
        return catalogue


def route(request: AskRequest, catalogue: Catalogue, *, today: date | None = None) -> Route:
    """How a request is answered; what is not surely of another kind is a question.

    A follow-up that only names a document ("And meeting-2?") asks the same of that one. "yesterday"
    is counted from today.
    """
    if request.read_as == "question":
        return _unless_nothing(Route(request, Target("question", "")), catalogue)
    asked = request.subject or request.question
    text = _completed(asked, request.history, catalogue)
    limited_route = _limited(request, text, catalogue, today)
    return _unless_nothing(limited_route or _routed(request, text, text, catalogue), catalogue)


def _routed(request: AskRequest, text: str, named: str, catalogue: Catalogue) -> Route:
    """What a question asks for: the text to be looked up, or `named`.

    That is the same with names of documents for the meetings that it describes.
    """
    target = _target(named, request, catalogue)
    if target is not None and target.kind == "instances":
        within = _as_question(request, text, catalogue)
        return replace(
            within,
            request=replace(within.request, subject=within.request.subject or text),
            target=target,
        )
    if target is not None:
        return Route(replace(request, subject=text), target)
    return _as_question(request, text, catalogue)


def _limited(
    request: AskRequest, text: str, catalogue: Catalogue, today: date | None
) -> Route | None:
    """A question limited to the time and people that it names; None where it names none."""
    mentions = occasion_mentions(
        text, cache(lambda: catalogue.meetings(request.where)), today=today
    )
    where = limited(request.where, mentions)
    if where == request.where:
        return None
    number = catalogue.count(where)
    name = " and ".join(catalogue.admitted(where)) if 1 <= number <= MOST_DOCUMENTS else ""
    subject = named = text
    for one in reversed(mentions):
        subject = f"{subject[: one.start]} {subject[one.end :]}"
        place = " ".join(filter(None, (one.preposition(text), name)))
        named = f"{named[: one.start]}{place if name else ''}{named[one.end :]}"
    subject = tidy(subject)
    subject = subject if len(subject.split()) > 2 else text
    narrow = replace(request, where=where, subject=subject)
    base = _routed(narrow, subject, named if name else subject, catalogue)
    base = replace(base, limits=count_in_words(where, number))
    required: re.Pattern[str] | None = None
    if all(one.sure for one in mentions) and (number or catalogue.all_dated(request.where)):
        day = where.since if where.since == where.until else None
        if number or not day or "-" not in day or where.participants:
            return base
        required = day_pattern(day)
    unlimited = where.occasion_in_words()
    everywhere = replace(
        _as_question(request, text, catalogue), unlimited=unlimited, required=required
    )
    return replace(base, everywhere=everywhere)


def _unless_nothing(base: Route, catalogue: Catalogue) -> Route:
    """The route; where no document is within its limits, lines that say so."""
    message = catalogue.nothing_within(base.request.where)
    if not message:
        return base
    target = Target("question", "")
    return replace(base, target=target, lines=(Line(message),), abstains=True)


def _as_question(request: AskRequest, text: str, catalogue: Catalogue) -> Route:
    """A question, limited to the documents that it names."""
    named = catalogue.mentions(text)
    if not named or request.where.documents:
        return Route(request, Target("question", ""))
    ids = tuple(dict.fromkeys(id_ for each in named for id_ in each.ids))
    where = replace(request.where, documents=ids)
    limited = replace(request, where=where, subject=subject_of(text, named))
    return Route(
        limited,
        Target("question", N_("a question about %(titles)s", titles=catalogue.titles(ids)), ids),
    )


def _target(text: str, request: AskRequest, catalogue: Catalogue) -> Target | None:
    """What a request asks of the store; None where it has to be looked up."""
    if request.where.speaker:
        return None
    readings = {ENGLISH: _bare(text), GERMAN: in_english(text)}
    for language, reading in readings.items():
        words = Words(reading, request.where, catalogue)
        for kind in KINDS.values() if reading else ():
            target = kind.match(words)
            if target is not None and not (request.mode == "free" and _is_written(target)):
                return replace(target, language=language)
    return None


def _is_written(target: Target) -> bool:
    return target.kind in WRITTEN or target.phrase == introduction.NEW_TEXT


def _bare(question: str) -> str:
    """A question on one line without words of politeness and the mark at its end."""
    line = " ".join(question.split()).replace("’", "'")  # noqa: RUF001 - typographic apostrophe
    return _CLOSING.sub("", _OPENING.sub("", line)) or line.strip(" ?!.,")


def _completed(question: str, history: Sequence[Turn], catalogue: Catalogue) -> str:
    """The question; one that only names documents, with the words of the question before it."""
    match = _AND.fullmatch(_bare(question))
    if match is None or not history:
        return question
    name = match["name"]
    if not catalogue.resolve(name):
        return question
    before = _completed(history[-1].question, history[:-1], catalogue)
    named = catalogue.mentions(before) or _object(before, catalogue)
    if named:
        first, last = named[0], named[-1]
        return f"{before[: first.start]}{name}{before[last.end :]}"
    return f"{before.rstrip(' ?!.')} in {name}?"


def _object(question: str, catalogue: Catalogue) -> list[Mention]:
    """The end of a question, as far as it stands for documents: "the budget meeting"."""
    bare = question.rstrip(" ?!.")
    for word in re.finditer(r"\S+", bare):
        if ids := catalogue.resolve(bare[word.start() :]):
            return [Mention(word.start(), len(bare), ids)]
    return []
