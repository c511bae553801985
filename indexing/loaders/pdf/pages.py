"""The pages of a PDF as pictures, and the place of a quote on one. Runs in the loader process.

The text that is quoted is the loader's, and another library's than the one that draws. So a quote
is looked for among the letters that the page is drawn with, and where it is not certain that they
are the same there is no box: a wrong one would be worse than none.
"""

from __future__ import annotations

import base64
import io
import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.errors import UnreadableFile
from indexing.loaders.pdf.text import characters
from indexing.message import N_

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PIXELS = 12_000_000  # of a picture: A4 at 3,000 pixels across
MAX_PAGES = 20_000  # whose sizes are told
QUALITY = 86  # of JPEG, which takes a tenth of PNG's time
THIN = 0.01  # points, which nothing to be read is
UNITS = 1 << 20  # across a page, for positions that do not depend on its size
MARGINS = (0, 6, 12, 24, 48, 96)  # letters on either side that tell equal quotes apart

Box = tuple[float, float, float, float]
"""Left, top, width and height, as shares of the page's."""


def answer(path: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """What a request asks of a PDF, as JSON has it: `sizes`, a `picture` or the `boxes` of a quote.

    Raises:
        UnreadableFile: pdfium cannot open it, it has no such page, or a library is missing.
    """
    with _opened(path) as document:
        if request["of"] == "sizes":
            return {"sizes": sizes(document)}
        with _page(path, document, int(request["page"])) as page:
            if request["of"] == "picture":
                picture = base64.b64encode(jpeg(page, int(request["width"])))
                return {"picture": picture.decode("ascii")}
            start, end = int(request["start"]), int(request["end"])
            return {"boxes": boxes(page, str(request["text"]), start, end)}


def sizes(document: PdfDocument) -> list[tuple[float, float]]:
    """Width and height of each page in points, as it is shown."""
    return [document.get_page_size(at) for at in range(min(len(document), MAX_PAGES))]


def jpeg(page: PdfPage, width: int) -> bytes:
    """A page as a JPEG so many pixels wide, or as wide as `MAX_PIXELS` allow."""
    across, down = page.get_size()
    scale = min(width / across, math.sqrt(MAX_PIXELS / (across * down)))
    picture = page.render(scale=scale).to_pil().convert("RGB")
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=QUALITY, subsampling=0)
    return file.getvalue()


def boxes(page: PdfPage, text: str, start: int, end: int) -> list[Box]:
    """Where a span of a page's text stands on it, a box a line; none unless it is certain."""
    letters = page.get_textpage()
    try:
        drawn = characters(letters)
        spans = locate_lines(drawn, text, start, end)
        boxes = [_box(page, each) for span in spans for each in _rectangles(letters, *span)]
    finally:
        letters.close()
    visible = [each for each in boxes if each is not None]
    return visible if len(visible) == len(boxes) else []


def locate_lines(drawn: str, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span of `locate`; those of its lines where a library has them in another order.

    None at all where one line is not certain.
    """
    whole = locate(drawn, text, start, end)
    if whole is not None:
        return [whole]
    lines, at = [], start
    for line in text[start:end].split("\n"):
        if any(map(str.isalnum, line)):
            lines.append(locate(drawn, text, at, at + len(line)))
        at += len(line) + 1
    certain = [line for line in lines if line is not None]
    return certain if len(certain) == len(lines) else []


def locate(drawn: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of `drawn` that holds the same words as a span of `text`; None if not certain.

    Only letters and digits are compared, without case and accents: libraries differ in white space,
    hyphens and ligatures. Words that are there more than once are told apart by those around them.
    """
    page, page_at = _letters(drawn)
    own, own_at = _letters(text)
    first, last = bisect_left(own_at, start), bisect_left(own_at, end)
    if first == last:
        return None
    for before, after in ((b, a) for m in MARGINS for b, a in {(m, 0): 0, (0, m): 0, (m, m): 0}):
        left, right = max(first - before, 0), min(last + after, len(own))
        words = own[left:right]
        if _is_once(words, page) and _is_once(words, own):
            at = page.index(words) + first - left
            return page_at[at], page_at[at + last - first - 1] + 1
    return None


def _is_once(words: str, text: str) -> bool:
    at = text.find(words)
    return at >= 0 and text.find(words, at + 1) < 0


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text, without case and accents, and where each one stands."""
    letters, at = [], []
    for number, character in enumerate(text):
        for each in unicodedata.normalize("NFKD", character).casefold():
            if each.isalnum():
                letters.append(each)
                at.append(number)
    return "".join(letters), at


def _rectangles(letters: PdfTextPage, start: int, end: int) -> Iterable[Box]:
    """Left, bottom, right and top of each line of a span, in points; not of line ends."""
    rectangles = [letters.get_rect(at) for at in range(letters.count_rects(start, end - start))]
    return [(a, b, c, d) for a, b, c, d in rectangles if abs(c - a) > THIN and abs(d - b) > THIN]


def _box(page: PdfPage, rectangle: Box) -> Box | None:
    """A rectangle of a page as it is shown, turned and cropped; None where nothing of it is."""
    import ctypes

    import pypdfium2.raw as pdfium

    left, bottom, right, top = rectangle
    corners = []
    for x, y in ((left, bottom), (right, top)):
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, UNITS, UNITS, 0, x, y, across, down)
        corners.append((across.value / UNITS, down.value / UNITS))
    (a, b), (c, d) = corners
    x0, x1 = (min(max(each, 0.0), 1.0) for each in sorted((a, c)))
    y0, y1 = (min(max(each, 0.0), 1.0) for each in sorted((b, d)))
    if x1 <= x0 or y1 <= y0:
        return None
    return round(x0, 5), round(y0, 5), round(x1 - x0, 5), round(y1 - y0, 5)


@contextmanager
def _opened(path: Path) -> Iterator[PdfDocument]:
    try:
        import PIL  # noqa: F401 - which pypdfium2 makes pictures with
        import pypdfium2
    except ImportError as error:
        reason, remedy = f"cannot be drawn without {error.name}", 'run: pip install "rag-app[chat]"'
        raise UnreadableFile(path, reason, remedy) from None
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        reason = N_("cannot be drawn (%(error)s)", error=error)
        raise UnreadableFile(path, reason, N_("open it in a viewer and save it again")) from None
    try:
        document.init_forms()  # what is filled in is seen
        yield document
    finally:
        document.close()


@contextmanager
def _page(path: Path, document: PdfDocument, number: int) -> Iterator[PdfPage]:
    """A page, counted from 1."""
    if not 1 <= number <= len(document):
        raise UnreadableFile(
            path,
            N_("has no page %(number)s", number=number),
            N_("ask for 1 to %(last)s", last=len(document)),
        )
    page = document[number - 1]
    try:
        yield page
    finally:
        page.close()
