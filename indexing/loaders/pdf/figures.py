"""The figures on a PDF's page: its pictures, each with the caption below or above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexing.loaders.figures import Gallery, is_caption, is_figure
from indexing.text.reading_order import Row

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

MOST_PICTURES = 50  # of a page that are looked at: a map may be made of thousands
WHOLE = 0.7  # share of the page from which a picture is the page itself, with its text over it
NEAR = 45.0  # points between a figure and its caption
CAPTION_LINES = 3


def add_figures(page: PdfPage, rows: Sequence[Row], number: int, gallery: Gallery) -> None:
    """Add the pictures of a page to a gallery; one that pdfium cannot decode is left out."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    width, height = page.get_size()
    pictures = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3)
    for order, picture in enumerate(pictures):
        if order == MOST_PICTURES:
            return
        try:
            left, bottom, right, top = picture.get_bounds()
            share = (right - left) * (top - bottom) / max(width * height, 1)
            if not is_figure(*picture.get_px_size()) or share > WHOLE:
                continue
            decoded = picture.get_bitmap(render=False).to_pil()
        except (pypdfium2.PdfiumError, ValueError):
            continue
        place = (left, height - top, right, height - bottom)
        row, caption = _caption(rows, place)
        gallery.add(decoded, start=row, caption=caption, page=number)


def _caption(rows: Sequence[Row], place: tuple[float, float, float, float]) -> tuple[int, str]:
    """The row beside which a picture stands, and what its caption says, "" without one."""
    left, top, right, bottom = place
    beside = [at for at, row in enumerate(rows) if row[0].left < right and row[-1].right > left]
    distances = {
        at: min(abs(rows[at][0].top - bottom), abs(top - rows[at][0].bottom)) for at in beside
    }
    captions = [at for at in beside if distances[at] <= NEAR and is_caption(_text(rows[at]))]
    if not captions:
        return min(distances, key=distances.__getitem__, default=0), ""
    first = min(captions, key=distances.__getitem__)
    lines = [_text(rows[first])]
    for at in range(first + 1, min(first + CAPTION_LINES, len(rows))):
        above, here = rows[at - 1][0], rows[at][0]
        if not 0 <= here.top - above.bottom < above.height / 2 or _text(rows[at - 1])[-1] == ".":
            break
        lines.append(_text(rows[at]))
    return first, " ".join(lines)


def _text(row: Row) -> str:
    return " ".join(box.text for box in row)
