"""Pages that are pictures are read by real engines, once; one that takes too much is one page."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import nullcontext
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from PIL import Image

from benchmarks.scanned_pages import Scan, draw
from indexing.documents import Document
from indexing.files import FileReader
from indexing.limits import MIB, FileLimits
from indexing.ocr import ENGINES, tesseract
from indexing.ocr.reading import OcrSettings
from indexing.walk import Failure

WORDS = [
    "The",
    "weir",
    "at",
    "Brayle",
    "Mill",
    "was",
    "repaired",
    "in",
    "March",
    "for",
    "12,450",
    "euros",
    "and",
    "the",
    "ferry",
    "at",
    "Sallow",
    "Reach",
    "was",
    "closed",
    "for",
    "eleven",
    "days",
    "while",
    "the",
    "new",
    "chain",
    "was",
    "being",
    "fitted",
    "by",
    "the",
    "county",
]
SIDE = 736  # pixels, to which RapidOCR scales what is smaller
SMALL = Scan(
    "small", dpi=100, points=22, skew=0.4, noise=5, paper=245, inches=(SIDE / 100, SIDE / 100)
)


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of text, then one that was scanned."""
    made = FPDF()
    made.set_font("Helvetica", size=12)
    made.add_page()
    made.text(20, 20, "The minutes of the board, typed.")
    made.add_page(format=(SIDE * 0.254, SIDE * 0.254))
    picture, words = draw(WORDS, SMALL)
    assert words == WORDS
    made.image(picture, x=0, y=0, w=made.w)
    path = tmp_path_factory.mktemp("scans") / "minutes.pdf"
    made.output(str(path))
    return path


@pytest.fixture(scope="module")
def rapidocr() -> Iterator[FileReader]:
    """A process in which the models are loaded once."""
    with FileReader(ocr=OcrSettings("rapidocr", dpi=100, pixels=SIDE**2 + 10_000)) as reader:
        yield reader


@pytest.mark.parametrize("engine", ENGINES)
def test_a_scanned_page_is_read_once_and_says_how_surely(
    engine: str, scanned: Path, rapidocr: FileReader
) -> None:
    if engine == "tesseract" and not (find_spec("tesserocr") and tesseract.folder(("eng",))):
        pytest.skip("pip install tesserocr, and its data: apt install tesseract-ocr-eng")
    kept: dict[str, Any] = {}
    told: list[tuple[int, int]] = []
    other = FileReader(ocr=OcrSettings(engine, dpi=100))
    with other if engine == "tesseract" else nullcontext(rapidocr) as reader:
        (document,) = reader.read(
            scanned, readings=kept, progress=lambda page, of: told.append((page, of))
        )
        (key,) = kept
        changed = deepcopy(kept)
        changed[key]["lines"][0][4] = "from what was kept"
        (again,) = reader.read(scanned, readings=changed)
    assert isinstance(document, Document)
    typed, page = document.pages
    assert document.text[typed.start : typed.end] == "The minutes of the board, typed."
    assert typed.confidence is None and page.confidence is not None and page.confidence > 0.8
    words = document.text[page.start : page.end].split()
    assert difflib.SequenceMatcher(None, WORDS, words).ratio() > 0.95
    assert told == [(1, 1)]
    assert isinstance(again, Document) and "from what was kept" in again.text


@pytest.mark.parametrize(
    ("limits", "ocr", "why"),
    [
        (FileLimits(memory=250 * MIB), OcrSettings("rapidocr"), "more than 250 MiB of memory"),
        (FileLimits(), OcrSettings("rapidocr", seconds=1), "more than 1 seconds"),
    ],
)
def test_a_page_that_takes_too_much_is_named_and_the_others_are_read(
    limits: FileLimits, ocr: OcrSettings, why: str, scanned: Path
) -> None:
    with FileReader(limits, ocr) as reader:
        document, failure = reader.read(scanned)
    assert isinstance(document, Document) and document.text == "The minutes of the board, typed."
    assert isinstance(failure, Failure) and failure.beside_text
    assert failure.reason.startswith("page 2 of 2 could not be read") and why in failure.reason


def test_without_an_engine_it_is_said_what_to_install(scanned: Path, tmp_path: Path) -> None:
    missing = "apt install tesseract-ocr-xyz" if find_spec("tesserocr") else "pip install tesserocr"
    for ocr, remedy in (
        (OcrSettings("off"), "--ocr auto"),
        (OcrSettings("tesseract", ("xyz",)), missing),
    ):
        with FileReader(ocr=ocr) as reader:
            _, failure = reader.read(scanned)
        assert isinstance(failure, Failure) and remedy in failure.remedy
        assert failure.reason == "pictures without text on page 2 of 2"


def test_a_page_of_100_000_pixels_is_drawn_within_the_limits(
    tmp_path: Path, rapidocr: FileReader
) -> None:
    made = FPDF(unit="pt", format=(100_000, 100_000))
    made.add_page()
    made.image(Image.new("L", (900, 900), "white"), x=0, y=0, w=made.w)
    made.output(str(tmp_path / "huge.pdf"))
    (failure,) = rapidocr.read(tmp_path / "huge.pdf")
    assert isinstance(failure, Failure)
    assert failure.reason == "holds no text, and none was recognised in its pictures"
