"""Pictures of every format that has them become figures, made anew, with captions and places."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, PngImagePlugin

from indexing.documents import Document
from indexing.loaders.figures import SHOWN_SIDE, Gallery, is_caption
from tests.reading import read

SECRET = "a-note-hidden-in-the-file"


def chart(seed: int = 0, size: tuple[int, int] = (300, 200)) -> bytes:
    """A drawing with a text hidden in its file."""
    picture = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(picture)
    for at in range(8):
        pen.rectangle(
            (at * 30, 20 + (at * 37 + seed) % 90, at * 30 + 20, 190), fill=(90, at * 20, 40)
        )
    hidden = PngImagePlugin.PngInfo()
    hidden.add_text("Comment", SECRET)
    stream = io.BytesIO()
    picture.save(stream, "PNG", pnginfo=hidden)
    return stream.getvalue()


def pdf(path: Path) -> None:
    from fpdf import FPDF

    made = FPDF()
    made.set_font("Helvetica", size=11)
    for number in (1, 2):
        made.add_page()
        made.text(20, 30, f"Words at the top of page {number}.")
        if number == 2:
            made.image(io.BytesIO(chart()), x=30, y=60, w=100)
            made.image(io.BytesIO(chart(size=(20, 20))), x=180, y=10, w=8)
            made.text(30, 134, "Figure 1: Nitrate by reach, in milligrams")
            made.text(30, 139, "a litre.")
        made.text(20, 200, f"Words at the foot of page {number}.")
    made.output(str(path))


def docx(path: Path) -> None:
    from docx import Document as Word

    word = Word()
    word.add_paragraph("Words before it.")
    word.add_picture(io.BytesIO(chart()))
    word.add_paragraph("Figure 1: Nitrate by reach, in milligrams a litre.")
    word.add_picture(io.BytesIO(chart(size=(20, 20))))
    table = word.add_table(3, 3)
    for row, cells in zip(
        table.rows,
        (("Item", "2023", "2024"), ("Wages", "7", "8"), ("Tolls", "1", "2")),
        strict=True,
    ):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    word.save(str(path))


def html(path: Path) -> None:
    (path.parent / "chart.png").write_bytes(chart(seed=3))
    (path.parent.parent / "outside.png").write_bytes(chart(seed=9))
    data = base64.b64encode(chart()).decode()
    path.write_text(
        "<p>Words before it.</p>"
        f"<figure><img src='data:image/png;base64,{data}'>"
        "<figcaption>Figure 1: Nitrate by reach, in milligrams a litre.</figcaption></figure>"
        "<p>More.</p><img src='../outside.png'><img src='https://example.com/x.png'>"
        "<img src='chart.png' alt='A second chart'>"
        "<table><tr><th>Item<th>2024</tr><tr><td>Wages<td>8</tr></table>",
        encoding="utf-8",
    )


def pptx(path: Path) -> None:
    from pptx import Presentation
    from pptx.util import Cm

    made = Presentation()
    for number in (1, 2):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = f"Words before it, on slide {number}."
    picture = slide.shapes.add_picture(io.BytesIO(chart()), Cm(2), Cm(5))
    said = "Figure 1: Nitrate by reach, in milligrams a litre."
    picture._element.nvPicPr.cNvPr.set("descr", said)
    slide.shapes.add_picture(io.BytesIO(chart(size=(20, 20))), Cm(1), Cm(1))
    made.save(str(path))


WRITERS: dict[str, tuple[Callable[[Path], None], int]] = {
    ".pdf": (pdf, 1),
    ".docx": (docx, 1),
    ".html": (html, 2),
    ".pptx": (pptx, 1),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_figures_are_made_anew_with_caption_and_place(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / f"report{suffix}"
    write, count = WRITERS[suffix]
    write(path)
    (document,) = read(path)
    assert isinstance(document, Document)
    first, *others = document.figures
    assert len(others) == count - 1
    assert first.caption == "Figure 1: Nitrate by reach, in milligrams a litre."
    assert first.page == (2 if suffix in (".pdf", ".pptx") else None)
    assert (first.width, first.height) == (300, 200)
    assert SECRET.encode() not in first.data
    with Image.open(io.BytesIO(first.data)) as again:
        assert (again.size, again.format) == ((300, 200), "PNG")
        drawn = Image.open(io.BytesIO(chart())).convert("RGB")
        assert again.convert("RGB").tobytes() == drawn.tobytes()
    words = {".pdf": "Words at the foot of page 2.", ".pptx": "Words before it, on slide 2."}.get(
        suffix, "Words before it."
    )
    at = document.text.index(words)
    assert first in document.figures_near(at, at + len(words))
    if suffix == ".pdf":
        assert document.figures_near(0, 10) == ()
        assert document.text[first.start :].startswith("Figure 1")
    if suffix == ".docx":
        assert "Item: Wages | 2023: 7 | 2024: 8" in document.text
    if suffix == ".html":
        assert others[0].caption == "A second chart"
        assert "Item | 2024\nItem: Wages | 2024: 8" in document.text


def test_what_is_no_figure() -> None:
    gallery = Gallery()
    blank = io.BytesIO()
    Image.new("RGB", (400, 400), "white").save(blank, "PNG")
    for picture in (chart(size=(2000, 40)), blank.getvalue(), b"\x89PNG\r\n\x1a\n damaged", b""):
        gallery.add(picture, start=0)
    for page in range(4):  # a letterhead
        gallery.add(chart(), start=page, page=page)
    assert gallery.figures() == ()


def test_a_large_one_is_made_smaller_and_one_is_kept_once_a_page() -> None:
    gallery = Gallery()
    for _ in range(2):
        gallery.add(chart(size=(3200, 1000)), start=5, page=1, caption=" a\n caption ")
    (figure,) = gallery.figures()
    assert (figure.width, figure.height, figure.caption) == (SHOWN_SIDE, 500, "a caption")


def test_captions() -> None:
    assert (
        is_caption("Figure 3: Nitrate") and is_caption("Abb. 2.1 Brücke") and is_caption("Fig. A")
    )
    assert not is_caption("Figures are rounded") and not is_caption("The map is old")
