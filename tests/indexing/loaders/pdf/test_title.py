"""What a PDF is called: metadata that say something, the first page, the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.loaders.pdf.title import largest_lines
from indexing.text.reading_order import TextBox
from tests.indexing.loaders.written import read_one


def written(path: Path, *, metadata: str = "", size: int = 20) -> str:
    """The title of a paper of one page."""
    from fpdf import FPDF

    file = FPDF()
    if metadata:
        file.set_title(metadata)
    file.add_page()
    for line, points in (
        ("Depth of the Lake at", size),
        ("Hull and Ferry Landing", size),
        *((f"Line {at} of the text, which is longer than the title.", 10) for at in range(9)),
    ):
        file.set_font("Helvetica", size=points)
        file.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    file.output(str(path))
    return read_one(path).title


@pytest.mark.parametrize(
    ("file", "metadata", "size", "expected"),
    [
        ("2212.04356v1.pdf", "", 20, "Depth of the Lake at Hull and Ferry Landing"),
        ("paper.pdf", "(anonymous)", 20, "Depth of the Lake at Hull and Ferry Landing"),
        ("paper.pdf", "Microsoft Word - Document1", 10, "paper"),
        ("paper.pdf", "untitled", 10, "paper"),
        ("paper.pdf", "Lakes of the North", 20, "Lakes of the North"),
        ("survey of lakes.pdf", "", 20, "survey of lakes"),
    ],
)
def test_title(file: str, metadata: str, size: int, expected: str, tmp_path: Path) -> None:
    assert written(tmp_path / file, metadata=metadata, size=size) == expected


def test_large_letters_that_are_no_title() -> None:
    body = [(TextBox(0, 400 + 12 * at, 90, 410 + 12 * at, "words of text"),) for at in range(9)]
    logo = (TextBox(0, 0, 90, 40, "ACME Ltd"),)
    foot = (TextBox(0, 700, 90, 740, "Stop at this line now"),)
    assert largest_lines([logo, *body], 800) == ""
    assert largest_lines([*body, foot], 800) == ""
    assert largest_lines([], 800) == ""
