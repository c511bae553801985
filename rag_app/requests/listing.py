"""Lines of an answer that is computed, not looked up; some end in a quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from generator.answer import AnswerReady, ContextEntry, Event
from generator.draft import Draft
from generator.evidence import Sentence, Span, evidence_sentences
from generator.extractive.quotes.selector import build_citation
from generator.lm.calibration_record import AnswerMode
from generator.prompt.ledger import count_words
from generator.request import AskRequest
from indexing.documents import Document
from indexing.store.view import StoreView
from rag_app.requests.target import Target
from rag_app.requests.wording import Wording

MOST_LINES = 50
"""Lines of one list; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an answer: what was counted or listed, then a sentence, word for word."""

    text: str
    quote: Sentence | None = None


def events(
    request: AskRequest,
    target: Target,
    lines: Sequence[Line],
    seconds: float,
    *,
    abstained: bool = False,
) -> Iterator[Event]:
    """The events of an answer of these lines, made in so many seconds; all that is quoted is cited.

    It abstains where the lines say that there is nothing to answer from.
    """
    draft = Draft(request, AnswerMode("quote", "computed from the documents"), seconds)
    quoted = {line.quote.document.id: line.quote.document for line in lines if line.quote}
    yield draft.context(tuple(_read_whole(document) for document in quoted.values()))
    for number, line in enumerate(lines):
        yield draft.text(("\n" if number else "") + _write(draft, line))
    answer = draft.finish()
    answer = replace(answer, kind=target.kind, read_as=target.read_as, abstained=abstained)
    yield AnswerReady(answer)


def _write(draft: Draft, line: Line) -> str:
    if line.quote is None:
        return line.text
    marker = len(draft.citations) + 1
    quoted = " ".join(line.quote.text.split())
    text = f"{line.text} {quoted} [{marker}]".lstrip()
    draft.citations.append(build_citation(line.quote, marker, text))
    return text


def _read_whole(document: Document) -> ContextEntry:
    tokens = count_words(document.text)
    return ContextEntry(document.id, document.title, tokens, tokens, 0)


def sentence_at(store: StoreView, document: Document, offset: int) -> Sentence | None:
    """The sentence that holds a character, within its utterance or passage; None at none."""
    utterance = document.utterance_at(offset)
    if utterance is not None:
        start, end = utterance.start, utterance.end
    else:
        around = [one for one in store.passages_of(document.id) if one.start <= offset < one.end]
        start, end = (around[0].start, around[0].end) if around else (0, len(document.text))
    for sentence in evidence_sentences([Span(document, start, end, 0.0)]):
        if sentence.start <= offset < sentence.end:
            return sentence
    return None


def more(number: int, wording: Wording, remedy: str) -> Iterator[Line]:
    """A line for those beyond the longest list, and how to see them."""
    if number > MOST_LINES:
        beyond = wording.number(number - MOST_LINES)
        yield Line(wording.say("and {number} more ({remedy})", number=beyond, remedy=remedy))
