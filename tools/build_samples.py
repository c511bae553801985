"""Build the sample PDF and Word document from their text.

    python tools/build_samples.py [FOLDER]

Reads `data/sources/*.txt` and writes to FOLDER (`data/samples` by default). No network, no clock:
the same text gives the same bytes as long as fpdf2 and python-docx stay the same.

The text has one block a paragraph, blank lines between. `# `, `## ` and `### ` begin headings,
`~ ` a line under the title, and `~table` to `~end` hold rows with ` | ` between cells, the head
first. Characters outside Latin-1 are refused, because the PDF uses the built-in fonts.
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from docx import Document
from fpdf import FPDF

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "data" / "sources"
SAMPLES = ROOT / "data" / "samples"
REPORT = "state-of-the-ellmere-2024"
AGREEMENT = "probe-supply-agreement"
EPOCH = datetime(2025, 3, 14, 9, 0, tzinfo=UTC)  # written into both files instead of today

SIZES = {1: 22.0, 2: 15.0, 3: 12.0}  # points, by depth of the heading
BODY = 10.5  # points
LINE = 5.2  # millimetres


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading or a table.

    Attributes:
        text: The words; "" for a table.
        depth: 1 to 3 for a heading, otherwise 0.
        subtitle: Whether it is a line under the title.
        rows: The cells of a table, its head first.
    """

    text: str = ""
    depth: int = 0
    subtitle: bool = False
    rows: tuple[tuple[str, ...], ...] = ()


def blocks(source: str) -> Iterator[Block]:
    """The blocks of a source text in order.

    Raises:
        ValueError: A table has no end, or rows of different lengths.
    """
    lines = iter(source.splitlines())
    for line in lines:
        mark, _, words = line.partition(" ")
        if line == "~table":
            yield Block(rows=tuple(_rows(lines)))
        elif mark == "~":
            yield Block(words, subtitle=True)
        elif mark in {"#", "##", "###"}:
            yield Block(words, depth=len(mark))
        elif line.strip():
            yield Block(line)


def _rows(lines: Iterator[str]) -> Iterator[tuple[str, ...]]:
    """The rows up to `~end`, all of one length."""
    width = None
    for line in lines:
        if line == "~end":
            return
        cells = tuple(cell.strip() for cell in line.split("|"))
        if width not in {None, len(cells)}:
            raise ValueError(f"a row has {len(cells)} cells and not {width}: {line}")
        width = len(cells)
        yield cells
    raise ValueError("a ~table has no ~end")


class _Report(FPDF):
    """A4 pages with their number at the foot."""

    def footer(self) -> None:
        """Print the page number; called by fpdf2 at the end of each page."""
        self.set_y(-15)
        self.set_font("Times", size=9)
        self.cell(0, 10, str(self.page_no()), align="C")


def pdf(source: str, path: Path) -> None:
    """Write a PDF with page numbers.

    Args:
        source: The marked-up text.
        path: Where to write.

    Raises:
        UnicodeEncodeError: A character is outside Latin-1.
    """
    source.encode("latin-1")
    page = _Report(format="A4")
    page.set_creation_date(EPOCH)
    page.set_margins(25, 22, 25)
    page.set_auto_page_break(True, margin=22)
    page.add_page()
    for block in blocks(source):
        if block.rows:
            _pdf_table(page, block.rows)
        else:
            _pdf_words(page, block)
        if block.depth == 1:
            page.set_title(block.text)
    page.output(str(path))


def _pdf_words(page: FPDF, block: Block) -> None:
    """A heading or a paragraph, with space around it. A heading stays with what follows."""
    if block.depth:
        if page.will_page_break(30):
            page.add_page()
        page.ln(3)
        page.set_font("Times", style="B", size=SIZES[block.depth])
        page.multi_cell(0, SIZES[block.depth] / 2, block.text, new_x="LMARGIN", new_y="NEXT")
    else:
        page.set_font("Times", style="I" if block.subtitle else "", size=BODY)
        page.multi_cell(0, LINE, block.text, align="L", new_x="LMARGIN", new_y="NEXT")
    page.ln(1.5)


def _pdf_table(page: FPDF, rows: tuple[tuple[str, ...], ...]) -> None:
    """A table over the whole width, columns as wide as their longest cell asks for."""
    page.set_font("Times", size=9)
    longest = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    widths = tuple(min(max(length, 6), 40) for length in longest)
    with page.table(col_widths=widths, line_height=LINE, text_align="LEFT") as table:
        for cells in rows:
            row = table.row()
            for cell in cells:
                row.cell(cell)
    page.ln(3)


def docx(source: str, path: Path) -> None:
    """Write a Word document.

    Args:
        source: The marked-up text.
        path: Where to write.
    """
    document = Document()
    for block in blocks(source):
        if block.rows:
            table = document.add_table(rows=0, cols=len(block.rows[0]), style="Table Grid")
            for cells in block.rows:
                for cell, text in zip(table.add_row().cells, cells, strict=True):
                    cell.text = text
        elif block.depth:
            document.add_heading(block.text, level=block.depth - 1)
        else:
            document.add_paragraph(block.text, style="Subtitle" if block.subtitle else None)
    about = document.core_properties
    about.title = next(block.text for block in blocks(source) if block.depth == 1)
    about.author = "Tarnwick Instruments (fictional)"
    about.comments = ""
    about.created = about.modified = EPOCH.replace(tzinfo=None)
    buffer = io.BytesIO()
    document.save(buffer)
    path.write_bytes(_without_clock(buffer.getvalue()))


def _without_clock(packed: bytes) -> bytes:
    """The same ZIP archive with one fixed time for all its members."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, date_time=EPOCH.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # the same on every system
            new.writestr(member, old.read(name))
    return out.getvalue()


def main(folder: Path = SAMPLES) -> None:
    """Build both files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, suffix, write in ((REPORT, ".pdf", pdf), (AGREEMENT, ".docx", docx)):
        target = folder / f"{name}{suffix}"
        write((SOURCES / f"{name}.txt").read_text(encoding="utf-8"), target)
        print(target)


if __name__ == "__main__":
    main(*(Path(each) for each in sys.argv[1:2]))
