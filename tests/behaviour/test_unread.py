"""What a file holds beside its text is named when the file is read, and the text is indexed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from docx import Document as Word
from docx.oxml import OxmlElement
from docx.shared import Cm
from fpdf import FPDF
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, TextStringObject

from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.loaders.pdf.scans import spans
from indexing.ocr.reading import OcrSettings
from indexing.walk import Failure
from rag_app.cli import printing
from rag_app.corpus.corpus import Corpus
from tests.reading import read

STAMP = "ABC-000123"
WORDS = "The budget was cut by half."


def picture(width: int = 40, height: int = 30) -> io.BytesIO:
    data = io.BytesIO()
    Image.new("L", (width, height), "grey").save(data, "PNG")
    data.seek(0)
    return data


def pdf(path: Path, pages: str) -> PdfWriter:
    """A page a letter: t text, p picture, d drawing, f both, s a scan with a stamp, b blank."""
    made = FPDF()
    made.set_font("Helvetica", size=12)
    for page in pages:
        made.add_page()
        if page in "pf":
            made.image(picture(), x=0, y=0, w=made.w)
        if page == "s":
            made.image(picture(600, 850), x=0, y=0, w=made.w)
            made.text(20, 20, STAMP)
        if page == "d":
            made.rect(10, 10, 50, 50)
        if page in "tf":
            made.text(20, 20, WORDS)
    made.output(str(path))
    return PdfWriter(clone_from=PdfReader(path))


def told(path: Path) -> tuple[list[str], list[str]]:
    """The texts of a file, and what is said beside them."""
    found = read(path)
    beside = [one for one in found if isinstance(one, Failure)]
    assert all(one.beside_text and one.remedy and one.path == str(path) for one in beside)
    return [one.text for one in found if isinstance(one, Document)], [one.reason for one in beside]


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ("ttbt", []),
        ("tft", []),
        ("tp", ["pictures without text on page 2 of 2"]),
        ("tst", ["pictures without text on page 2 of 3"]),
        ("pdtbppt", ["pictures without text on pages 1-2, 5-6 of 7"]),
    ],
)
def test_pages_without_text_are_named(pages: str, said: list[str], tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", pages)
    texts, beside = told(tmp_path / "a.pdf")
    said_there = [STAMP if page == "s" else WORDS for page in pages if page in "tfs"]
    assert texts == ["\n".join(said_there)]
    assert beside == said


def test_spans_of_pages() -> None:
    assert spans([3]) == "3"
    assert spans([1, 2, 5, 7, 8, 9]) == "1-2, 5, 7-9"
    assert spans(range(2, 32, 2)) == "2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24 and 3 more spans"


def test_a_pdf_without_any_text_is_refused(tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", "pp")
    (failure,) = read(tmp_path / "a.pdf")
    assert isinstance(failure, Failure) and not failure.beside_text
    assert "no text" in failure.reason and "--ocr auto" in failure.remedy


def test_files_attached_and_fields_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    writer = pdf(path, "t")
    writer.add_attachment("budget.txt", b"ten thousand")
    fields = [
        field("/Tx", "name", "Ada"),
        field("/Tx", "empty", " "),
        field("/Btn", "agreed", "/Yes"),
    ]
    form = DictionaryObject({NameObject("/Fields"): ArrayObject(map(writer._add_object, fields))})
    writer.root_object[NameObject("/AcroForm")] = form
    writer.write(path)
    texts, beside = told(path)
    assert texts == [WORDS]
    assert beside == ["has files attached to it (1)", "is a form with fields filled in (1)"]


def field(kind: str, name: str, value: str) -> DictionaryObject:
    held = NameObject(value) if kind == "/Btn" else TextStringObject(value)
    values = {"/FT": NameObject(kind), "/T": TextStringObject(name), "/V": held}
    return DictionaryObject({NameObject(key): each for key, each in values.items()})


def test_what_is_outside_of_the_body_of_a_word_document(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    word = Word()
    run = word.add_paragraph(WORDS).add_run()
    word.add_picture(picture(), width=Cm(3))
    word.save(str(path))
    assert told(path) == ([WORDS], [])
    for name in ("w:footnoteReference", "w:footnoteReference", "w:commentReference"):
        run._r.append(OxmlElement(name))
    word.add_picture(picture(), width=Cm(20), height=Cm(26))
    word.save(str(path))
    assert told(path) == (
        [WORDS],
        [
            "has things outside of its body (footnotes: 2, comments: 1)",
            "has pictures of half a page or more (1)",
        ],
    )


def test_a_word_document_of_pictures_is_refused(tmp_path: Path) -> None:
    word = Word()
    word.add_picture(picture())
    word.save(str(tmp_path / "a.docx"))
    (failure,) = read(tmp_path / "a.docx")
    assert isinstance(failure, Failure) and not failure.beside_text
    assert failure.reason == "holds pictures but no text" and "rag-app[ocr]" in failure.remedy


def test_the_report_names_file_and_pages(
    tmp_path: Path, encoder: Encoder, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.pdf"
    pdf(path, "tp")
    with Corpus(tmp_path / "corpus", encoder=encoder, ocr=OcrSettings("off")) as corpus:
        report, again = corpus.add([path]), corpus.add([path])
    assert len(report.added) == 1 and not report.failures
    (unread,) = report.unread
    printing.report(report)
    said = capsys.readouterr().out
    assert f"not read: {path}: pictures without text on page 2 of 2; allow" in said
    assert unread.remedy in said
    assert again.unchanged == 1 and not again.unread
