"""A document's text in parts, and a part in blocks: utterances, records, headings, paragraphs.

Blocks are spans: whatever is shown is the text that was indexed, character by character, so that a
quote is marked exactly where it was taken from.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from indexing.documents import Document, Page

PART = 12_000  # characters, about: what is sent to a browser at once
HEADING = 160  # characters at most

Kind = Literal["utterance", "record", "heading", "paragraph", "item", "row"]
Offsets = tuple[int, int]

_LINE = re.compile(r"[^\n]+")
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022\u2013\u25aa]|\(?\d{1,3}[.)])[ \t]+\S")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
_RULE = re.compile(r"[ \t|:=+*_-]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document that is shown by itself."""

    kind: Kind  # what it is shown as
    start: int  # first character
    end: int  # one past the last
    # first character that is shown: past the label of an utterance, or the marks of a heading
    text_start: int
    speaker: str | None = None  # who speaks, in an utterance
    time: float | None = None  # seconds from the start of the recording
    place: str | None = None  # what the page is called that begins with it


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, marked or not."""

    text: str
    marked: bool = False


def parts(document: Document) -> list[Offsets]:
    """Spans that cover a document, each of about `PART` characters and whole blocks.

    Utterances, pages and lines stay whole where they are not longer than a part themselves.
    """
    text, spans, at = document.text, [], 0
    starts = [one.start for one in document.utterances or document.pages]
    while at < len(text):
        end = _end(text, starts, at)
        spans.append((at, end))
        at = end
    return spans or [(0, 0)]


def _end(text: str, starts: Sequence[int], at: int) -> int:
    """Where a part that begins at `at` ends."""
    if len(text) - at <= PART * 3 // 2:
        return len(text)
    next_ = bisect_left(starts, at + PART)
    if next_ < len(starts) and starts[next_] <= at + 2 * PART:
        return starts[next_]
    for mark in ("\n\n", "\n", " "):
        position = text.find(mark, at + PART, at + 2 * PART)
        if position >= 0:
            return position + len(mark)
    return min(at + PART, len(text))


def part_of(spans: Sequence[Offsets], offset: int) -> int:
    """The number of the part that holds a character."""
    return max(bisect_right(spans, offset, key=lambda span: span[0]) - 1, 0)


def blocks(document: Document, start: int, end: int) -> Iterator[Block]:
    """The blocks of a part, in order."""
    at = start
    for one in document.utterances_within(start, end):
        yield from _lines(document, at, min(one.start, end))
        first, last = max(one.start, start), min(one.end, end)
        if first < last:
            words = min(max(one.text_start, first), last)
            begins = first == one.start
            yield Block(
                "utterance",
                first,
                last,
                words,
                speaker=one.speaker if begins else None,
                time=one.time if begins else None,
            )
        at = max(at, last)
    yield from _lines(document, at, end)


def _lines(document: Document, start: int, end: int) -> Iterator[Block]:
    """The blocks of a span without utterances: lines, those of one paragraph together."""
    paragraph: Block | None = None
    pages = _pages_within(document, start, end)
    full = _full_line(document, start, end)
    before = 0
    for match in _LINE.finditer(document.text, start, end):
        block = _line(document, *match.span(), page=pages.get(match.start()))
        if block is None:
            continue
        joins = paragraph is not None and block.start == paragraph.end + 1 and block.place is None
        joins = joins and (not full or before >= full)
        before = block.end - block.start
        if paragraph is not None and joins and block.kind == paragraph.kind == "paragraph":
            paragraph = _joined(paragraph, block)
            continue
        if paragraph is not None:
            yield paragraph
        paragraph = block
    if paragraph is not None:
        yield paragraph


def _full_line(document: Document, start: int, end: int) -> int:
    """The length from which a line of a PDF goes on in the next; 0 where lines mean something."""
    if document.format != "pdf":
        return 0
    lengths = sorted(len(match[0]) for match in _LINE.finditer(document.text, start, end))
    return lengths[len(lengths) * 9 // 10] * 3 // 4 if lengths else 0


def flowing(document: Document, start: int, end: int) -> str:
    """A span as it is shown by itself: where a PDF's line goes on in the next, with a blank."""
    text = document.text
    whole = text.rfind("\n", 0, start) + 1, (text.find("\n", end) + 1 or len(text))
    full = _full_line(document, *whole) if "\n" in text[start:end] else 0
    if not full:
        return text[start:end]
    shown = list(text[start:end])
    for match in _LINE.finditer(text, *whole):
        line_end = match.end()
        if len(match[0]) >= full and start <= line_end < end:
            shown[line_end - start] = " "
    return "".join(shown)


def _joined(one: Block, other: Block) -> Block:
    return Block(one.kind, one.start, other.end, one.text_start, place=one.place)


def _pages_within(document: Document, start: int, end: int) -> dict[int, Page]:
    """The pages that begin in a span and hold text, by their first character."""
    first = bisect_left(document.pages, start, key=lambda page: page.start)
    last = bisect_left(document.pages, end, key=lambda page: page.start)
    return {page.start: page for page in document.pages[first:last] if page.end > page.start}


def _line(document: Document, start: int, end: int, *, page: Page | None) -> Block | None:
    """What a line is shown as, that may be the first of a page; None for one of white space."""
    line, place = document.text[start:end], page.place if page else None
    if not line.strip():
        return None
    if page is not None and page.end <= end + 1 and document.format != "pdf":
        return Block("record", start, end, start, place=place)
    if document.format == "markdown" and (match := _ATX.match(line)):
        return Block("heading", start, end, start + match.end(1), place=place)
    if _is_heading(document, start, end):
        return Block("heading", start, end, start, place=place)
    if " | " in line or (line.lstrip().startswith("|") and line.rstrip().endswith("|")):
        return Block("row", start, end, start, place=place)
    kind: Kind = "item" if _ITEM.match(line) and document.format != "pdf" else "paragraph"
    return Block(kind, start, end, start, place=place)


def _is_heading(document: Document, start: int, end: int) -> bool:
    """Whether a line is short, and a place where its format begins a chapter."""
    if document.format == "pdf" or end - start > HEADING:
        return False
    at = bisect_left(document.breaks, start)
    return at < len(document.breaks) and document.breaks[at] == start


def pieces(text: str, start: int, end: int, marks: Sequence[Offsets]) -> list[Piece]:
    """A span of a text, cut where marks begin and end; marks ascend and do not overlap."""
    pieces, at = [], start
    for first, last in marks:
        a, b = max(first, at), min(last, end)
        if a >= b:
            continue
        pieces += [Piece(text[at:a]), Piece(text[a:b], marked=True)]
        at = b
    pieces.append(Piece(text[at:end]))
    return [piece for piece in pieces if piece.text]


def cells(text: str, start: int, end: int) -> list[Offsets]:
    """The cells of a row, without the bars between them."""
    spans, at = [], start
    for cell in text[start:end].split("|"):
        stripped = cell.strip()
        first = at + (cell.index(stripped) if stripped else 0)
        spans.append((first, first + len(stripped)))
        at += len(cell) + 1
    inner = spans[1:] if spans and spans[0][0] == spans[0][1] else spans
    return inner[:-1] if len(inner) > 1 and inner[-1][0] == inner[-1][1] else inner


def is_rule(text: str) -> bool:
    """Whether a row is the line below the head of a table."""
    return "-" in text and _RULE.fullmatch(text) is not None
