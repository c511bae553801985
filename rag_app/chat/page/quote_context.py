"""A citation or hit in its context: the span with the text before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby

from generator.answer import Citation, ShortAnswer
from indexing.documents import Document, Figure, Utterance, clock
from indexing.errors import RagAppError
from indexing.message import N_
from indexing.page_names import page_name
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.viewer.blocks import flowing
from rag_app.chat.web.file_names import file_name
from rag_app.corpus.reader import CorpusReader
from rag_app.proof.standing import look_up, place_at
from rag_app.short_answer import quote_emphasis
from rag_app.surroundings import MARGIN, surroundings

MOST_FIGURES = 3  # shown beside a quote


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document's text.

    It may be the label of an utterance, a part of the short answer, or what an `other` person says
    than whose words are shown.
    """

    text: str
    label: bool = False
    short: bool = False
    other: bool = False


@dataclass(frozen=True, slots=True)
class QuoteContext:
    """A span with the text around it, and the figures beside it.

    The location has page, time stamp and speaker as far as known; the problem says why the context
    cannot be shown, "" if it can.
    """

    title: str
    location: str
    path: str
    before: tuple[Piece, ...]
    span: tuple[Piece, ...]
    after: tuple[Piece, ...]
    start: int
    end: int
    problem: str = ""
    document: str = ""
    figures: tuple[Figure, ...] = ()

    @property
    def runs(self) -> Iterator[tuple[bool, tuple[Piece, ...]]]:
        """The span's pieces, with whether they are marked: not what others say in it."""
        for other, pieces in groupby(self.span, key=lambda piece: piece.other):
            yield not other, tuple(pieces)


def citation_context(
    corpus: CorpusReader,
    citation: Citation,
    *,
    short: ShortAnswer | None = None,
    margin: int = MARGIN,
) -> QuoteContext:
    """A citation's quote in its document as it is now; the short answer apart if it lies there.

    A quote that has moved is shown where it stands now. Of documents that whoever reads the corpus
    may not see, there is the quote alone.
    """
    before: tuple[Piece, ...] = ()
    span, after, problem = quote_pieces(citation, short), before, ""
    figures: tuple[Figure, ...] = ()
    try:
        document = corpus.document(citation.document)
    except RagAppError:
        problem = N_("This document is no longer in the corpus.")
        if corpus.scope.login is not None:
            problem = N_("This document is no longer in the corpus, or no longer shared with you.")
    else:
        quote = {**asdict(citation), "time_seconds": citation.time, "label": None}
        now = look_up(quote, document)
        if now.standing == "moved":
            by = now.start - citation.start
            short = short and replace(short, start=short.start + by, end=short.end + by)
            here = place_at(document, now.start)
            citation = replace(
                citation,
                start=now.start,
                end=now.end,
                quote=now.text,
                time=here["time_seconds"],
                page=here["page"],
                place=document.place_at(now.start),
            )
        if now.standing in {"same", "moved"}:
            before, _, after = _pieces(document, citation.start, citation.end, margin)
            span = quote_pieces(citation, short, document)
            near = document.figures_near(citation.start, citation.end)
            shown = [one for one in near if one.key == citation.figure] or near
            figures = tuple(shown[:MOST_FIGURES])
        else:
            problem = N_("This document has changed since this quote was taken from it.")
            if now.standing == "altered":
                problem = N_("This document says something else here now.")
    return QuoteContext(
        title=citation.title,
        location=citation_place(citation),
        path=_name(citation.path, citation.part),
        before=before,
        span=span,
        after=after,
        start=citation.start,
        end=citation.end,
        problem=problem,
        document=citation.document,
        figures=figures,
    )


def quote_pieces(
    citation: Citation, short: ShortAnswer | None, document: Document | None = None
) -> tuple[Piece, ...]:
    """A citation's quote, the short answer in it apart; labels too where its document is given."""
    cut, at, pieces = quote_emphasis(citation, short), citation.start, []
    for text, is_short in ((cut.before, False), (cut.words, True), (cut.after, False)):
        whole = (Piece(text),) if text else ()
        parts = _split_labels(document, at, at + len(text)) if document else whole
        pieces += [replace(piece, short=is_short) for piece in parts]
        at += len(text)
    return tuple(pieces)


def span_context(
    document: Document, start: int, end: int, *, margin: int = MARGIN, speaker: str | None = None
) -> QuoteContext:
    """Any span of a document; its location is that of the first character.

    With a speaker, part of a name in any case, the span is from their first word in it to their
    last, the location that of the first, and what others say between is theirs.
    """
    said = document.spoken_by(speaker, start, end) if speaker else ()
    if said:
        start, end = said[0].text_start, said[-1].end
    utterance = document.utterance_at(start)
    before, span, after = _pieces(document, start, end, margin)
    if said:
        span = _apart(document, start, end, said)
    return QuoteContext(
        title=document.title,
        location=location(
            time=utterance.time if utterance else None,
            speaker=utterance.speaker if utterance else None,
            place=document.place_at(start),
        ),
        path=_name(document.path, document.part),
        before=before,
        span=span,
        after=after,
        start=start,
        end=end,
        document=document.id,
        figures=document.figures_near(start, end)[:MOST_FIGURES],
    )


def citation_place(citation: Citation, *, speaker: bool = True) -> str:
    """Where a citation stands; one of an older conversation knows the number of its page alone."""
    numbered = f"page {citation.page}" if citation.page is not None else None
    who = citation.speaker if speaker else None
    place = location(time=citation.time, speaker=who, place=citation.place or numbered)
    return " · ".join(part for part in (translated(citation.dated), place) if part)


def location(*, time: float | None, speaker: str | None, place: str | None) -> str:
    """Page, time stamp and speaker in one line."""
    parts = [translated(page_name(place or "")), clock(time), speaker]
    return " · ".join(part for part in parts if part)


def _pieces(document: Document, start: int, end: int, margin: int) -> list[tuple[Piece, ...]]:
    """The text before, in and after a span, cut between words."""
    first, last = surroundings(document.text, start, end, margin)
    before = _split_labels(document, first, start)
    after = _split_labels(document, end, last)
    if first and before:
        before = (Piece("… "), *before)
    if last < len(document.text) and after:
        after = (*after, Piece(" …"))
    return [before, _split_labels(document, start, end), after]


def _split_labels(document: Document, start: int, end: int) -> tuple[Piece, ...]:
    """A stretch of a document, the labels of its utterances apart."""
    at, pieces = start, []
    for utterance in document.utterances_within(start, end):
        label = max(utterance.start, at), min(utterance.text_start, end)
        words = flowing(document, at, label[0])
        written = document.text[slice(*label)]
        if utterance.renamed_from and utterance.speaker:
            written = written.replace(utterance.renamed_from, utterance.speaker)
        pieces += [Piece(words), Piece(written, label=True)]
        at = max(at, label[1])
    pieces.append(Piece(flowing(document, at, end)))
    return tuple(piece for piece in pieces if piece.text)


def _apart(
    document: Document, start: int, end: int, said: Sequence[Utterance]
) -> tuple[Piece, ...]:
    """A stretch of a document, in which all but some utterances is said by others."""
    pieces, at = [], start
    for one in said:
        others = _split_labels(document, at, one.text_start)
        pieces += [replace(piece, other=True) for piece in others]
        pieces += _split_labels(document, one.text_start, one.end)
        at = one.end
    return (*pieces, *_split_labels(document, at, end))


def _name(path: str, part: str) -> str:
    name = file_name(path)
    return f"{name} ({part})" if part else name
