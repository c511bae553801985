"""Twenty PDF pages of known reading order, written by fpdf2: columns, headers, tables, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fpdf import FPDF

LEFT, TOP, WIDTH, BOTTOM = 20.0, 25.0, 170.0, 272.0  # millimetres on A4
LINE = 5.2
HEADER = "Ellmere Water Board - Annual Review 2024"
YEARS = ("Item", "2022", "2023", "2024")
ROWS = (
    ("Revenue from tolls", "1,204", "1,310", "1,377"),
    ("Grants of the county", "310", "295", "402"),
    ("Repairs of the weir", "-88", "-130", "-640"),
    ("Wages", "-711", "-745", "-790"),
    ("Surplus", "715", "730", "349"),
)


@dataclass(slots=True)
class PdfPage:
    """What is on a page: its words in the order in which a person reads them.

    Attributes:
        kind: What a table calls pages like it.
        words: In reading order, without what repeats on the pages.
        rows: Of a table on it, each with its cells.
    """

    kind: str
    words: list[str] = field(default_factory=list)
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(slots=True)
class _Writer:
    """A page that is written, and the words that were taken for it."""

    pdf: FPDF
    source: Iterator[str]
    page: PdfPage

    def prose(self, count: int) -> list[str]:
        taken = list(islice(self.source, count))
        self.page.words += taken
        return taken

    def lines(self, words: list[str], width: float) -> list[str]:
        """Words as lines of at most `width` millimetres."""
        lines, line = [], ""
        for word in words:
            wider = f"{line} {word}".strip()
            if line and self.pdf.get_string_width(wider) > width:
                lines.append(line)
                line = word
            else:
                line = wider
        return [*lines, line]

    def put(self, x: float, y: float, line: str) -> None:
        self.pdf.text(x, y, line)

    def column(self, words: list[str], x: float, y: float, width: float) -> float:
        """Words in a column; where it ends."""
        for line in self.lines(words, width):
            self.put(x, y, line)
            y += LINE
        return y


def _one_column(writer: _Writer) -> None:
    writer.column(writer.prose(420), LEFT, TOP, WIDTH)


def _columns(writer: _Writer, number: int, *, interleaved: bool, y: float = TOP) -> None:
    width = (WIDTH - 8 * (number - 1)) / number
    columns = [writer.lines(writer.prose(400 // number), width) for _ in range(number)]
    if interleaved:  # as programs do that write the page line by line
        for at, row in enumerate(zip_longest(*columns, fillvalue="")):
            for column, line in enumerate(row):
                writer.put(LEFT + column * (width + 8), y + at * LINE, line)
        return
    for column, lines in enumerate(columns):
        for at, line in enumerate(lines):
            writer.put(LEFT + column * (width + 8), y + at * LINE, line)


def _two_columns(writer: _Writer) -> None:
    _columns(writer, 2, interleaved=False)


def _interleaved_columns(writer: _Writer) -> None:
    _columns(writer, 2, interleaved=True)


def _three_columns(writer: _Writer) -> None:
    _columns(writer, 3, interleaved=True)


def _heading_over_columns(writer: _Writer) -> None:
    writer.pdf.set_font("Helvetica", "B", 16)
    heading = writer.prose(7)
    writer.put(LEFT, TOP + 2, " ".join(heading))
    writer.pdf.set_font("Helvetica", size=10)
    _columns(writer, 2, interleaved=True, y=TOP + 14)


def _columns_drawn_backwards(writer: _Writer) -> None:
    """The right column stands first in the file, as after an edit in a layout program."""
    width = (WIDTH - 8) / 2
    left, right = writer.prose(200), writer.prose(200)
    writer.column(right, LEFT + width + 8, TOP, width)
    writer.column(left, LEFT, TOP, width)


def _table(writer: _Writer, *, borders: bool) -> None:
    y = writer.column(writer.prose(120), LEFT, TOP, WIDTH) + LINE
    rows = (YEARS, *ROWS)
    writer.page.rows = rows
    widths = (62.0, 34.0, 34.0, 34.0)
    for row in rows:
        x = LEFT
        for cell, width in zip(row, widths, strict=True):
            writer.pdf.set_xy(x, y)
            writer.pdf.cell(width, 7, cell, border=1 if borders else 0)
            x += width
        writer.page.words += " ".join(row).split()
        y += 7
    writer.column(writer.prose(120), LEFT, y + 2 * LINE, WIDTH)


def _ruled_table(writer: _Writer) -> None:
    _table(writer, borders=True)


def _open_table(writer: _Writer) -> None:
    _table(writer, borders=False)


def _side_note(writer: _Writer) -> None:
    """A box beside the text, which is read after it."""
    text = writer.prose(260)
    note = writer.prose(60)
    writer.column(note, LEFT + 125, TOP + 30, 45)
    writer.column(text, LEFT, TOP, 115)


KINDS: tuple[tuple[str, int, Callable[[_Writer], None]], ...] = (
    ("one column", 3, _one_column),
    ("two columns", 3, _two_columns),
    ("two columns, line by line", 3, _interleaved_columns),
    ("three columns, line by line", 2, _three_columns),
    ("heading over two columns", 2, _heading_over_columns),
    ("right column first", 2, _columns_drawn_backwards),
    ("table with rules", 2, _ruled_table),
    ("table without rules", 2, _open_table),
    ("note beside the text", 1, _side_note),
)


def write(path: Path, text: str) -> list[PdfPage]:
    """A PDF of twenty pages with the words of a text, a header and a page number on each."""
    from fpdf import FPDF

    source = iter(text.encode("latin-1", "ignore").decode("latin-1").split())
    pdf = FPDF(format="A4")
    pdf.set_auto_page_break(auto=False)
    pages: list[PdfPage] = []
    for kind, count, draw in KINDS:
        for _ in range(count):
            page = PdfPage(kind)
            pages.append(page)
            pdf.add_page()
            pdf.set_font("Helvetica", size=8)
            pdf.text(LEFT, 12, HEADER)
            pdf.text(LEFT + WIDTH / 2, 287, f"Page {len(pages)} of 20")
            pdf.set_font("Helvetica", size=10)
            draw(_Writer(pdf, source, page))
    pdf.output(str(path))
    return pages
