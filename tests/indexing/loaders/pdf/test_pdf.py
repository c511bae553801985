"""What a reader sees of a PDF: words put together again, titles that are none."""

from __future__ import annotations

from pathlib import Path

from indexing.text.sentences import sentences
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


def test_a_sentence_goes_on_from_page_to_page(tmp_path: Path) -> None:
    from fpdf import FPDF

    file = FPDF()
    file.set_font("Helvetica", size=12)
    for line in ("The lake is deep,", "cold and wide where", "Hull lies.", "the end is here"):
        file.add_page()
        file.cell(text=line)
    file.output(str(tmp_path / "lake.pdf"))
    document = read_one(tmp_path / "lake.pdf")
    starts = {page.start for page in document.pages}
    within = document.text.index("cold")
    assert starts - set(document.breaks) == {within}
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    spans = sentences(document.text, 0, len(document.text))
    assert document.text[slice(*spans[0])] == "The lake is deep,\ncold and wide where"
