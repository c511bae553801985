"""Boxes lie on the words they are for, or there are none; pages are pictures of the size asked."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fpdf import FPDF
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from indexing.errors import UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders.pdf.pages import MAX_PIXELS, Box, locate
from indexing.loaders.process import LoaderProcess

LINES = ("The ferry leaves at six.", "The mast is tall.", "The ferry leaves at nine.")
PAGE = (400.0, 600.0)  # points
SIZE, LEFT, TOP, STEP = 12, 40, 60, 30  # points


@pytest.fixture(scope="module")
def process() -> Iterator[LoaderProcess]:
    process = LoaderProcess(FileLimits(seconds=60, memory=512 * MIB))
    yield process
    process.close()


def written(path: Path, *, lines: tuple[str, ...] = LINES, turned: bool = False) -> Path:
    """A page with a line of words every 30 points, from (40, 60) on; turned by a quarter."""
    file = FPDF(unit="pt", format=PAGE)
    file.set_font("Helvetica", size=SIZE)
    file.add_page()
    for number, line in enumerate(lines):
        file.text(LEFT, TOP + number * STEP, line)
    data = bytes(file.output())
    path.write_bytes(data)
    if turned:
        from pypdf import PdfReader, PdfWriter

        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
        writer.pages[0].rotate(90)
        writer.write(path)
    return path


def boxes(process: LoaderProcess, path: Path, text: str, words: str, nth: int = 0) -> list[Box]:
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    end = start + len(words)
    found: list[Any] = process.pages(
        path, {"of": "boxes", "page": 1, "text": text, "start": start, "end": end}
    )["boxes"]
    return [tuple(each) for each in found]


def dark(path: Path, process: LoaderProcess, box: Box) -> float:
    """The share of all dark pixels of a page that lie within a box."""
    page = np.asarray(drawn(process, path, 800).convert("L")) < 128
    down, across = page.shape
    left, top, width, height = box
    part = page[
        round(top * down) : round((top + height) * down),
        round(left * across) : round((left + width) * across),
    ]
    return float(part.sum() / page.sum())


def drawn(process: LoaderProcess, path: Path, width: int) -> Image.Image:
    picture = process.pages(path, {"of": "picture", "page": 1, "width": width})["picture"]
    return Image.open(io.BytesIO(base64.b64decode(picture)))


@pytest.mark.parametrize("turned", [False, True])
def test_a_box_holds_the_ink_of_its_words(
    process: LoaderProcess, tmp_path: Path, turned: bool
) -> None:
    path = written(tmp_path / "a.pdf", lines=("Red kite", "ten terns"), turned=turned)
    text = "Red kite\nten terns"
    (kite,) = boxes(process, path, text, "Red kite")
    (terns,) = boxes(process, path, text, "ten terns")
    across, down = PAGE if not turned else PAGE[::-1]
    assert process.pages(path, {"of": "sizes"})["sizes"] == [[across, down]]
    inks = dark(path, process, kite), dark(path, process, terns)
    assert min(inks) > 0.3 and sum(inks) > 0.93
    if not turned:
        left, top, _, height = kite
        assert left == pytest.approx(LEFT / PAGE[0], abs=0.005)
        assert top + height == pytest.approx(TOP / PAGE[1], abs=0.01)
    both = boxes(process, path, text, text)
    assert sorted(both) == sorted([kite, terns])


def test_equal_words_are_told_apart_by_what_stands_around_them(
    process: LoaderProcess, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.pdf")
    text = "\n".join(LINES)
    words = "The ferry leaves"
    first, second = (boxes(process, path, text, words, nth) for nth in (0, 1))
    assert first != second
    assert boxes(process, path, text, "six")[0][1] == pytest.approx(first[0][1], abs=0.01)
    # What another library read otherwise, or what is there twice in every way, has no box.
    assert boxes(process, path, f"{text}\nNot on it.", "Not on it.") == []
    twice = written(tmp_path / "b.pdf", lines=("Yes.", "Yes."))
    assert boxes(process, twice, "Yes.", "Yes.") == []


@given(st.text("ab ", min_size=1, max_size=12), st.data())
def test_a_span_is_located_only_where_it_must_be(text: str, data: st.DataObject) -> None:
    """The page may hold more; wherever a span is located, its letters are those asked for."""
    page = data.draw(st.text("ab \n", max_size=16))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    words = "".join(text[start:end].split())
    found = locate(page, text, start, end)
    if found is not None:
        assert "".join(page[slice(*found)].split()) == words
        assert "".join(page.split()).count(words) >= 1
    if page == text and "".join(text.split()).count(words) == 1 and len(set(words)) > 1:
        assert found is not None


def test_libraries_may_differ_in_ligatures_hyphens_and_accents() -> None:
    page = "the ﬁrst infor\u00ad\nmation of cafe\u0301"
    text = "the first information of café"
    for words in ("first", "information", "café"):
        start = text.index(words)
        found = locate(page, text, start, start + len(words))
        assert found is not None and page[found[0]] in {words[0], "ﬁ"}


def test_a_picture_is_as_wide_as_asked_and_never_too_large(
    process: LoaderProcess, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.pdf")
    sizes = [drawn(process, path, width).size for width in (200, 100_000)]
    assert sizes[0] == (200, 300)
    assert sizes[1][0] * sizes[1][1] <= MAX_PIXELS * 1.01


def test_what_cannot_be_drawn_is_a_reason_and_the_next_is_drawn(
    process: LoaderProcess, tmp_path: Path
) -> None:
    good, bad = written(tmp_path / "a.pdf"), tmp_path / "b.pdf"
    bad.write_bytes(b"%PDF-1.7\nnothing\n%%EOF")
    with pytest.raises(UnreadableFile, match="cannot be drawn"):
        process.pages(bad, {"of": "sizes"})
    with pytest.raises(UnreadableFile, match="has no page 7"):
        process.pages(good, {"of": "picture", "page": 7, "width": 100})
    assert process.pages(good, {"of": "sizes"})["sizes"] == [list(PAGE)]
