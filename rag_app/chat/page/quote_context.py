"""A citation or hit in its context: the span with the text before and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.documents import clock
from indexing.errors import RagAppError

if TYPE_CHECKING:
    from generator.answer import Citation
    from indexing.documents import Document
    from rag_app.corpus.corpus import Corpus

AROUND = 260  # characters on each side


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text in a row.

    Attributes:
        text: What stands there.
        label: Whether it says who speaks, and when, and not what is said.
    """

    text: str
    label: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A span with the text around it.

    Attributes:
        title: The document's name.
        place: Page, time stamp and speaker, as far as there are any.
        path: The file's name.
        before: Text that leads to the span.
        span: The span itself.
        after: Text that follows.
        start: First character of the span.
        end: One past its last.
        lost: Why the surroundings cannot be shown; "" when they can.
    """

    title: str
    place: str
    path: str
    before: tuple[Piece, ...]
    span: tuple[Piece, ...]
    after: tuple[Piece, ...]
    start: int
    end: int
    lost: str = ""


def cited(corpus: Corpus, citation: Citation, *, around: int = AROUND) -> Surroundings:
    """A citation's quote as it stands in its document now."""
    before: tuple[Piece, ...] = ()
    span: tuple[Piece, ...] = (Piece(citation.quote),)
    after, lost = before, ""
    try:
        document = corpus.document(citation.document)
    except RagAppError:
        lost = "This document is no longer in the corpus."
    else:
        if document.text[citation.start : citation.end] == citation.quote:
            before, span, after = _pieces(document, citation.start, citation.end, around)
        else:
            lost = "This document has changed since this quote was taken from it."
    place = where(time=citation.time, speaker=citation.speaker, page=citation.page)
    return Surroundings(
        title=citation.title,
        place=place,
        path=_name(citation.path, citation.part),
        before=before,
        span=span,
        after=after,
        start=citation.start,
        end=citation.end,
        lost=lost,
    )


def passage(document: Document, start: int, end: int, *, around: int = AROUND) -> Surroundings:
    """Any span of a document.

    The place is that of its first character.
    """
    utterance = document.utterance_at(start)
    before, span, after = _pieces(document, start, end, around)
    return Surroundings(
        title=document.title,
        place=where(
            time=utterance.time if utterance else None,
            speaker=utterance.speaker if utterance else None,
            page=document.page_at(start),
        ),
        path=_name(document.path, document.part),
        before=before,
        span=span,
        after=after,
        start=start,
        end=end,
    )


def where(*, time: float | None, speaker: str | None, page: int | None) -> str:
    """Page, time stamp and speaker in one line."""
    parts = [f"page {page}" if page is not None else None, clock(time), speaker]
    return " · ".join(part for part in parts if part)


def _pieces(document: Document, start: int, end: int, around: int) -> list[tuple[Piece, ...]]:
    """What stands before, in and after a span, cut between words."""
    text = document.text
    first, last = max(start - around, 0), min(end + around, len(text))
    if first:
        first += _first_gap(text[first:start])
    if last < len(text) and (cut := text[end:last].rstrip().rfind(" ")) > 0:
        last = end + cut
    before = _labelled(document, first, start)
    after = _labelled(document, end, last)
    if first and before:
        before = (Piece("… "), *before)
    if last < len(text) and after:
        after = (*after, Piece(" …"))
    return [before, _labelled(document, start, end), after]


def _labelled(document: Document, start: int, end: int) -> tuple[Piece, ...]:
    """A stretch of a document, the labels of its utterances apart."""
    text, at, pieces = document.text, start, []
    for utterance in document.utterances_within(start, end):
        label = max(utterance.start, at), min(utterance.text_start, end)
        pieces += [Piece(text[at : label[0]]), Piece(text[slice(*label)], label=True)]
        at = max(at, label[1])
    pieces.append(Piece(text[at:end]))
    return tuple(piece for piece in pieces if piece.text)


def _first_gap(text: str) -> int:
    gaps = [at for mark in " \n" if (at := text.find(mark)) >= 0]
    return min(gaps) + 1 if gaps else 0


def _name(path: str, part: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return f"{name} ({part})" if part else name
