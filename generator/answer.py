"""An answer with its citations, its context ledger, and the events of its stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from indexing.message import N_

Mode = Literal["quote", "free"]
Kind = Literal[
    "question",
    "documents",
    "speakers",
    "mentions",
    "section",
    "summary",
    "decisions",
    "introduction",
    "instances",
    "standing",
]
"""What a request is: looked up, answered from the store, or all that a search finds."""
EvidenceUnit = Literal["auto", "documents", "passages"]
UNITS: tuple[EvidenceUnit, ...] = get_args(EvidenceUnit)
"""Whole documents where the model's window is long and the device can carry it, else passages; the
best documents whole, as many as fit; the best passages."""
ReadAs = Literal["auto", "question"]
"""Whether requests are told from questions, or everything is looked up as a question."""
Support = Literal["quoted", "supported", "figure", "unsupported"]
"""What a sentence rests on: a verified quote, an excerpt that says it in other words, a figure that
the model was shown and names (nothing checks what it reads there), nothing."""

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]

NOT_SAID = N_("The documents do not say.")
"""The answer when the evidence does not hold one."""

CONVERSATION = N_("the conversation")
"""The title of its line in a context ledger."""

UNSUPPORTED_MARK = "[unsupported]"
"""What follows a sentence of a generated answer that neither quote nor excerpt supports."""

MARK = re.compile(r"\[(?:([0-9]{1,3})|unsupported)\]")
"""A marker, with its number, or the mark of a sentence that nothing supports."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim span that an answer rests on: `document.text[start:end] == quote`.

    Attributes:
        marker: The number in the answer, as in "[1]".
        document: Id of the document.
        path: Its file.
        title: Its name.
        part: Which document of the file; "" when a file is one document.
        start: First character in the document's text.
        end: One past the last.
        quote: The span itself.
        speaker: Who says it.
        time: Seconds from the start of the recording.
        page: Page of its first character.
        verified: Whether the quote supports what the answer says with this marker.
        overlap: Share of what the sentence says whose words are in the quote, 0 to 1.
        similarity: Cosine of sentence and quote, -1 to 1.
        share: How responsible the passages that hold it are for the answer, 0 to 1; None where
            passages had no prompts of their own.
        supported: Whether it says in other words what the answer says with this marker, by the
            verifier or the reader; then it is not verified as a quote.
        probability: The verifier's probability of that, 0 to 1; None where it was not asked.
        place: What the page of its first character is called, such as "page 4" or "slide 4".
        figures: The captions of the figures beside it.
        figure: Key of the figure that the model was shown, and says it has read this in; its
            caption is the only one of `figures`, and the quote stands beside it. Else "".
        day: The day or month that its document is of, in ISO 8601, as the file or its first lines
            say; "" where they do not.
        order: Whether that is "earlier" or "later" than the day of the first citation; "undated"
            where it matters and is not known, else "".
    """

    marker: int
    document: str
    path: str
    title: str
    part: str
    start: int
    end: int
    quote: str
    speaker: str | None = None
    time: float | None = None
    page: int | None = None
    verified: bool = False
    overlap: float = 0.0
    similarity: float = 0.0
    share: float | None = None
    supported: bool = False
    probability: float | None = None
    place: str | None = None
    figures: tuple[str, ...] = ()
    figure: str = ""
    day: str = ""
    order: Literal["", "earlier", "later", "undated"] = ""

    @property
    def dated(self) -> str:
        """The day for people: "2026-03-14", "2025-11-17, earlier", "no date"; "" for nothing."""
        if self.order == "earlier":
            return N_("%(day)s, earlier", day=self.day)
        if self.order == "later":
            return N_("%(day)s, later", day=self.day)
        return N_("no date") if self.order else self.day

    @property
    def support(self) -> Support:
        """What it gives to the answer, as a sentence's."""
        if self.verified or self.supported:
            return "quoted" if self.verified else "supported"
        return "figure" if self.figure else "unsupported"

    @property
    def doubt(self) -> str:
        """What a reader should know of a citation that is not a verified quote, else ""."""
        if self.verified or self.figure:
            return N_("read in a figure, which nothing checks") if self.figure else ""
        return (
            N_("says it in other words") if self.supported else N_("may not support the sentence")
        )


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """A sentence of a generated answer, and what it rests on.

    Attributes:
        text: The sentence, without markers.
        support: "quoted" with a verified quote; "supported" when the evidence says it in other
            words, by the verifier or the reader; "figure" when it names one; else "unsupported".
        marker: Of its citation; None without one. An unsupported sentence's is of the nearest
            quote, which does not say it.
    """

    text: str
    support: Support
    marker: int | None = None


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The words of a quote that answer: `document.text[start:end] == text`, within a citation.

    Attributes:
        marker: The citation that they lie in: `citation.start <= start < end <= citation.end`.
        document: Id of its document.
        start: First character in the document's text.
        end: One past the last.
        text: The words themselves.
        probability: That these words answer, 0 to 1.
    """

    marker: int
    document: str
    start: int
    end: int
    text: str
    probability: float

    @classmethod
    def within(
        cls, citation: Citation, start: int, end: int, probability: float
    ) -> ShortAnswer | None:
        """The words of a span of a citation's document; None where the quote does not hold it."""
        if not citation.start <= start < end <= citation.end:
            return None
        text = citation.quote[start - citation.start : end - citation.start]
        if not text.strip():
            return None
        return cls(citation.marker, citation.document, start, end, text, probability)


@dataclass(frozen=True, slots=True)
class MarkerSpan:
    """Where a marker stands in the text of an answer: `text[start:end] == f"[{marker}]"`."""

    marker: int
    start: int
    end: int


def marker_spans(text: str, mode: Mode) -> Iterator[MarkerSpan]:
    """The markers of an answer, or of its beginning. A "[2]" of a document is none of them.

    Quotes have at most one marker a line, at its end and counting up; in a "free" answer only
    markers have their form.
    """
    if mode == "free":
        for mark in MARK.finditer(text):
            if mark[1]:
                yield MarkerSpan(int(mark[1]), *mark.span())
        return
    at, number = 0, 1
    for line in text.split("\n"):
        if line.endswith(own := f"[{number}]"):  # a line that is counted or listed may have none
            end = at + len(line)
            yield MarkerSpan(number, end - len(own), end)
            number += 1
        at += len(line) + 1


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """One line of the context ledger: `kept + dropped == tokens`.

    Tokens are the model's where a model reads the evidence, else words and punctuation marks.

    Attributes:
        document: Id of the document; "" for the conversation so far, which has its own budget, and
            for documents that could not be searched.
        title: Its name.
        tokens: Tokens of the whole document.
        kept: How many of them are in the prompt.
        dropped: How many are not.
    """

    document: str
    title: str
    tokens: int
    kept: int
    dropped: int

    @property
    def was_lost(self) -> bool:
        """Whether it stands for documents that could not be searched."""
        return not self.document and self.title != CONVERSATION


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage that had a prompt of its own, and its part in the answer."""

    document: str  # id of the document; "" for none
    title: str
    start: int  # first character
    end: int  # one past the last
    prior: float  # p(z|x), from its retrieval score
    posterior: float  # p(z|x,y), after the answer; the prior again under RAG-Token
    share: float  # its mean responsibility for the answer's tokens


@dataclass(frozen=True, slots=True)
class TokenShares:
    """A token of the answer, and how responsible each passage is for it."""

    text: str
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Responsibility:
    """What each passage gave to an answer that was decoded over several."""

    passages: tuple[ShownPassage, ...]  # in the order of the retriever
    tokens: tuple[TokenShares, ...]  # the answer, token by token; shares in the order of `passages`


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with everything needed to check it.

    Attributes:
        question: As asked.
        query: What evidence was looked for: the question, completed where it leans on others.
        text: The answer with its markers, exactly as it was streamed.
        citations: By marker, ascending.
        short: The words that answer, in one of the quotes; None where none stand out.
        closest: When the answer is that the documents do not say: up to three passages that come
            closest, best first. They are no answer and not among the citations; their markers
            count from 1, and none is verified.
        probability: That the documents answer the question, 0 to 1; None where nothing says so.
        sentences: Of a generated answer, each sentence and what it rests on.
        unsupported: Those that neither a quote nor an excerpt supports.
        context: The ledger, in the order of the hits.
        seconds: Where the time went.
        abstained: Whether the answer is that the documents do not say.
        mode: "quote" for an extractive answer, "free" for a generated one.
        model: The language model's name; "" for none.
        decoding: How it decoded over the documents; "" without a language model.
        responsibility: What each passage gave; None where all of them stood in one prompt.
        configuration: What was on when it was made, and why, by part: "Ms-PoE", "decoding", ...
        kind: What the question was read as.
        read_as: The same in plain words; "" for a question of all documents.
    """

    question: str
    text: str
    query: str = ""
    citations: tuple[Citation, ...] = ()
    short: ShortAnswer | None = None
    closest: tuple[Citation, ...] = ()
    probability: float | None = None
    sentences: tuple[SentenceSupport, ...] = ()
    unsupported: tuple[str, ...] = ()
    context: tuple[ContextEntry, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    abstained: bool = False
    mode: Mode = "quote"
    model: str = ""
    decoding: str = ""
    responsibility: Responsibility | None = None
    configuration: dict[str, str] = field(default_factory=dict)
    kind: Kind = "question"
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class ContextReady:
    """First event: what the answer will rest on."""

    context: tuple[ContextEntry, ...]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's text; all of them joined are `Answer.text`."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerReady:
    """Last event: the whole answer."""

    answer: Answer


Event = ContextReady | TextDelta | AnswerReady


def with_entries(event: Event, entries: tuple[ContextEntry, ...]) -> Event:
    """An event with further lines at the end of its ledger, where it has one."""
    if isinstance(event, ContextReady):
        return ContextReady((*event.context, *entries))
    if isinstance(event, AnswerReady):
        answer = event.answer
        return AnswerReady(replace(answer, context=(*answer.context, *entries)))
    return event
