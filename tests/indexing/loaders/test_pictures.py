"""Pictures of pages: turned the right way, on white paper; without OCR it is said how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from indexing.documents import Document
from indexing.errors import UnreadableFile
from indexing.loaders import pictures
from indexing.walk import Failure
from tests.indexing.loaders.test_loaders import line_of
from tests.reading import read, read_by_ocr

WORDS = "The weir was repaired in March."


def turned(path: Path) -> None:
    """As a telephone saves it: lying on its side, with a tag that says so."""
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise by 90 degrees
    line_of(WORDS).transpose(Image.Transpose.ROTATE_90).save(path, exif=exif)


def transparent(path: Path) -> None:
    """Black letters on nothing, where the colour below is black, too."""
    line = line_of(WORDS)
    picture = Image.new("RGBA", line.size, (0, 0, 0, 0))
    picture.putalpha(line.point(lambda level: 255 - level))
    picture.save(path)


def deep(path: Path) -> None:
    """Sixteen bits a pixel."""
    line_of(WORDS).convert("I").point(lambda level: level * 257).convert("I;16").save(path)


@pytest.mark.parametrize(
    ("made", "name"), [(turned, "a.jpg"), (transparent, "a.png"), (deep, "b.png")]
)
def test_a_line_is_read_however_it_was_saved(made: object, name: str, tmp_path: Path) -> None:
    assert callable(made)
    made(tmp_path / name)
    (found,) = read_by_ocr(tmp_path / name)
    assert isinstance(found, Document) and found.text == WORDS, found
    (page,) = found.pages
    assert page.confidence is not None and page.confidence > 0.8
    assert str(found.place_at(0)).startswith("page 1 (read by OCR, ")


def test_a_picture_without_words_is_of_another_kind(tmp_path: Path) -> None:
    Image.new("L", (400, 300), 200).save(tmp_path / "a.png")
    (failure,) = read_by_ocr(tmp_path / "a.png")
    assert isinstance(failure, Failure) and failure.other_kind
    assert failure.reason == "is a picture in which no text was recognised"


def test_without_ocr_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    line_of(WORDS).save(tmp_path / "a.png")
    (failure,) = read(tmp_path / "a.png")
    assert isinstance(failure, Failure) and not failure.other_kind
    assert (failure.reason, failure.remedy) == (
        "is a picture, which only OCR can read",
        "allow it with --ocr auto",
    )
    with pytest.raises(UnreadableFile) as refused:
        list(pictures.load(tmp_path / "a.png"))
    assert refused.value.remedy == 'run: pip install "rag-app[ocr]"'


def test_too_many_pixels_and_pages_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, path = line_of(WORDS), tmp_path / "a.tif"
    line.save(path, save_all=True, append_images=[line, line])
    for limit, most, reason in (
        ("MOST_PIXELS", 9, "more than 9 pixels"),
        ("MOST_PAGES", 2, "3 pages"),
    ):
        with monkeypatch.context() as changed, pytest.raises(UnreadableFile) as refused:
            changed.setattr(pictures, limit, most)
            list(pictures.load(path))
        assert reason in refused.value.reason
