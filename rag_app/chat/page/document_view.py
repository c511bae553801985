"""A document as people read it: pictures of pages, utterances, paragraphs, with a quote marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing.documents import Document, clock
from rag_app.chat.language.current import day
from rag_app.chat.page.html import render
from rag_app.chat.viewer import blocks as structure
from rag_app.chat.viewer.blocks import Block, Offsets, Piece
from rag_app.chat.viewer.recording import Recording

LONGEST_QUOTE = 600  # characters that are repeated beside a page
AROUND = 1  # parts before and after the one that is opened, which come with it


@dataclass(frozen=True, slots=True)
class Row:
    """A block with its words."""

    block: Block
    pieces: list[list[Piece]]  # its words; of a table's row, those of each cell
    time: str | None  # its time as people write it
    rule: bool  # whether it is the line below the head of a table


def document(
    source: Document,
    *,
    quote: Offsets | None = None,
    problem: str = "",
    sizes: Sequence[tuple[float, float]] = (),
    recording: Recording | None = None,
) -> str:
    """A whole document, those parts of its text in it that are looked at first.

    It opens at the quote, with the pages of its file, of these sizes, or the problem why that is
    not shown.
    """
    spans = structure.parts(source)
    start = quote[0] if quote else 0
    at = structure.part_of(spans, start)
    near = range(at - AROUND, at + AROUND + 1)
    return render(
        "document.html",
        document=source,
        length=clock(max((u.time for u in source.utterances if u.time is not None), default=None)),
        day=day(source.occasion.day, month="MMMM") if source.occasion.day else "",
        problem=problem,
        sizes=sizes,
        recording=recording,
        quote=_shortened(source.text[slice(*quote)]) if quote else "",
        span=quote,
        quote_part=at,
        parts=[
            rows(source, span, quote) if number in near else None
            for number, span in enumerate(spans)
        ],
        lengths=[last - first for first, last in spans],
    )


def part(source: Document, number: int, *, quote: Offsets | None = None) -> str:
    """One part of a document's text; "" where there is no such part."""
    spans = structure.parts(source)
    if not 0 <= number < len(spans):
        return ""
    return render("document_part.html", rows=rows(source, spans[number], quote))


def rows(source: Document, span: Offsets, quote: Offsets | None) -> list[Row]:
    """The blocks of a part with their words, a quote marked in them."""
    marks = [quote] if quote else []
    rows = []
    for block in structure.blocks(source, *span):
        first, last = block.text_start, block.end
        parted = (
            structure.cells(source.text, first, last) if block.kind == "row" else [(first, last)]
        )
        rule = block.kind == "row" and structure.is_rule(source.text[first:last])
        pieces = [structure.pieces(source.text, *each, marks) for each in parted]
        rows.append(Row(block, pieces, clock(block.time), rule))
    return rows


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]} …"
