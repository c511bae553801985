"""The text of a PDF's pages by pdfium, with the place of each piece of it, in reading order."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing.loaders.charset import clean
from indexing.loaders.figures import Gallery
from indexing.loaders.pdf.figures import add_figures
from indexing.loaders.pdf.tables import Grid, grids
from indexing.loaders.pdf.title import largest_lines
from indexing.text.reading_order import TextBox, rows_in_order
from indexing.text.running_heads import PageLines
from indexing.text.tables import with_header

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

WIDE = 0.9  # blank between two words that parts two pieces of text, in heights of the line
MOST_WORDS = 20_000  # of a page of a newspaper there are 6,000; with more, pdfium's order stands

_WORD = re.compile(r"[^\s\ufffe\x02]+[\ufffe\x02]?")
_HYPHEN = re.compile("[\ufffe\x02]")  # at the end of a line, as pdfium has it


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page, and whether it follows the one before in one line."""

    box: TextBox
    follows: bool


def page_lines(page: PdfPage, number: int, gallery: Gallery) -> PageLines:
    """The lines of a page, whose number counts from 1; its figures go to a gallery.

    The place of a figure is the index of its line until the pages are put together.
    """
    letters, height = page.get_textpage(), page.get_height()
    try:
        drawn = characters(letters)
        words = list(_words(letters, drawn, height))
    finally:
        letters.close()
    if len(words) == MOST_WORDS:
        lines = (" ".join(clean(one).split()) for one in _HYPHEN.sub("-", drawn).splitlines())
        return PageLines(tuple(filter(None, lines)))
    tables = grids(page) if words else []
    rows = rows_in_order([*_pieces(words, tables), *_table_rows(words, tables)])
    if words:
        add_figures(page, rows, number, gallery)
    text = PageLines.of(rows, height)
    return replace(text, largest=largest_lines(rows, height)) if number == 1 else text


def characters(letters: PdfTextPage) -> str:
    """The characters of a page, one for each of pdfium's numbers."""
    import pypdfium2.raw as pdfium

    count = letters.count_chars()
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(letters, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    codes = (pdfium.FPDFText_GetUnicode(letters, at) for at in range(count))
    return "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)


def _words(letters: PdfTextPage, drawn: str, height: float) -> Iterator[Word]:
    import pypdfium2.raw as pdfium

    bounds = pdfium.FS_RECTF()

    def place(at: int) -> tuple[float, float, float, float]:
        pdfium.FPDFText_GetLooseCharBox(letters, at, bounds)
        return bounds.left, height - bounds.top, bounds.right, height - bounds.bottom

    end = 0
    for number, word in enumerate(_WORD.finditer(drawn)):
        if number == MOST_WORDS:
            return
        first, last = place(word.start()), place(word.end() - 1)
        box = TextBox(
            min(first[0], last[0]),
            min(first[1], last[1]),
            max(first[2], last[2]),
            max(first[3], last[3]),
            clean(_HYPHEN.sub("-", word[0])),
        )
        yield Word(box, follows=number > 0 and "\n" not in drawn[end : word.start()])
        end = word.end()


def _pieces(words: Sequence[Word], tables: Sequence[Grid]) -> Iterator[TextBox]:
    """Words outside of tables; those with an ordinary blank between them are one piece."""
    piece: list[TextBox] = []
    for word in words:
        if any(table.cell(word.box) for table in tables):
            if piece:
                yield _joined(piece)
            piece = []
            continue
        if piece and not (word.follows and _is_next(piece[-1], word.box)):
            yield _joined(piece)
            piece = []
        piece.append(word.box)
    if piece:
        yield _joined(piece)


def _is_next(one: TextBox, other: TextBox) -> bool:
    """Whether a word goes on in the same line, after an ordinary blank."""
    return -one.height < other.left - one.right < WIDE * one.height


def _joined(words: Sequence[TextBox]) -> TextBox:
    return TextBox(
        min(word.left for word in words),
        min(word.top for word in words),
        max(word.right for word in words),
        max(word.bottom for word in words),
        " ".join(word.text for word in words),
    )


def _table_rows(words: Sequence[Word], tables: Sequence[Grid]) -> Iterator[TextBox]:
    """The rows of ruled tables, each as one piece: its cells, with their columns' names."""
    for table in tables:
        cells: dict[tuple[int, int], list[str]] = {}
        for word in words:
            if cell := table.cell(word.box):
                cells.setdefault(cell, []).append(word.box.text)
        columns = range(len(table.columns) - 1)
        rows = [
            [" ".join(cells.get((row, at), [])) for at in columns]
            for row in range(len(table.rows) - 1)
        ]
        for text, top, bottom in zip(with_header(rows), table.rows, table.rows[1:], strict=False):
            if text:
                yield TextBox(table.columns[0], top, table.columns[-1], bottom, text)
