"""What a reader sees of a PDF: words put together again, titles that are none."""

from __future__ import annotations

from pathlib import Path

from tests.indexing.loaders.written import read_one


def test_pdf_words_broken_at_a_line_end_are_put_together_when_known(tmp_path: Path) -> None:
    from fpdf import FPDF

    file = FPDF()
    file.set_font("Helvetica", size=12)
    file.set_title("Microsoft Word - draft.docx")
    file.add_page()
    for line in ("The information was old.", "New infor-", "mation is well-", "known here."):
        file.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    file.output(str(tmp_path / "a.pdf"))
    document = read_one(tmp_path / "a.pdf")
    assert document.text == "The information was old.\nNew information\n is well-\nknown here."
    assert document.title == "a"
