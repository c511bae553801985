"""In: a picture of pages, from a scanner or a phone. Out: what OCR reads on it.

Each picture of a TIFF is a page; PNG and JPEG have one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Extract
from indexing.errors import OtherKind, UnreadableFile
from indexing.loaders.charset import printable
from indexing.loaders.magic import advice, signature
from indexing.loaders.pdf import extract_of_pages
from indexing.loaders.pdf.scans import Scans, read_scan
from indexing.message import N_
from indexing.ocr import INSTALL
from indexing.ocr.recognition import current
from indexing.text.running_heads import PageLines

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "TIFF")
MOST_PIXELS = 120_000_000  # A3 at 800 dots an inch; decoded, four bytes each
MOST_PAGES = 2000
LEAST_SIDE = 736  # pixels, to which RapidOCR scales what is smaller
SAVE_AGAIN = N_("open it in a viewer and save it again as PNG")
SMALLER = N_("save it with fewer dots an inch; 300 are enough for OCR")


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The text of each page, with the confidence of OCR.

    Raises:
        OtherKind: No text was recognised in it.
        UnreadableFile: It is no picture, damaged, too large, or there is no OCR to read it.
    """
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged tags; sizes are looked at below
        try:
            with Image.open(path, formats=FORMATS) as opened:
                scans = _read(path, opened)
        except UnidentifiedImageError:
            raise _refused(path) from None
        except Image.DecompressionBombError:
            raise _too_large(path) from None
        except (EOFError, ValueError, SyntaxError) as error:
            details = " ".join(str(error).split())[:200]
            reason = N_("is a damaged %(format)s (%(error)s)", format=N_("picture"), error=details)
            raise UnreadableFile(path, reason, SAVE_AGAIN) from None
    if not scans.pages and not scans.failed:
        reason = N_("is a picture in which no text was recognised")
        raise OtherKind(path, reason, N_("if there is some, scan it again with more dots an inch"))
    if not scans.pages:
        raise scans.nothing_read(path)
    pages = [scans.pages.get(at, PageLines(())) for at in range(scans.count)]
    yield extract_of_pages(pages, scans.confidence, printable(path.stem))
    yield from scans.unread(path)


def _read(path: Path, opened: Image) -> Scans:
    """What OCR reads on each page; the first one is decoded before anything else is said."""
    count = getattr(opened, "n_frames", 1) if opened.format == "TIFF" else 1
    if count > MOST_PAGES:
        reason = N_(
            "has %(number)s pages, more than %(most)s", number=f"{count:,}", most=f"{MOST_PAGES:,}"
        )
        raise UnreadableFile(path, reason, N_("split it"))
    scans = Scans(count)
    recognition = current()
    for at in range(count):
        if at:
            opened.seek(at)
        if opened.width * opened.height > MOST_PIXELS:
            raise _too_large(path)
        picture = _grey(opened)
        remedy = (
            N_("run: %(install)s", install=INSTALL) if recognition is None else recognition.remedy()
        )
        if recognition is None or remedy:
            raise UnreadableFile(path, N_("is a picture, which only OCR can read"), remedy)
        pixels = recognition.settings.pixels
        if (large := picture.width * picture.height / pixels) > 1:
            shrunk = (max(1, int(side / large**0.5)) for side in picture.size)
            picture = picture.resize((next(shrunk), next(shrunk)))
        picture = _with_margins(picture)
        read_scan(scans, at, picture, recognition, place=(at + 1, count))
    return scans


def _grey(opened: Image) -> Image:
    """A page in grey levels, the right way up, on white paper."""
    from PIL import Image, ImageOps

    picture = ImageOps.exif_transpose(opened)
    if picture.mode.startswith("I") or picture.mode == "F":  # 16 bits, or more
        low, high = picture.getextrema()
        assert isinstance(low, int | float) and isinstance(high, int | float)
        scale = 255 / max(high - low, 1)
        picture = picture.convert("F").point(lambda level: level * scale - low * scale)
    elif picture.mode in ("RGBA", "LA", "PA", "P", "La", "RGBa"):
        clear = picture.convert("RGBA")
        picture = Image.new("RGB", clear.size, "white")
        picture.paste(clear, mask=clear.getchannel("A"))
    return picture.convert("L")


def _with_margins(picture: Image) -> Image:
    """At least a square that detectors know: a strip is blown up by them, and words are doubled."""
    from PIL import Image

    if min(picture.size) >= LEAST_SIDE:
        return picture
    size = (max(picture.width, LEAST_SIDE), max(picture.height, LEAST_SIDE))
    paper = picture.getpixel((0, 0))
    assert isinstance(paper, int | float)
    page = Image.new("L", size, int(paper))
    page.paste(picture)
    return page


def _refused(path: Path) -> UnreadableFile:
    with path.open("rb") as file:
        match = signature(file.read(16))
    if match is None or match.suffix in (".png", ".jpg", ".tif"):
        return UnreadableFile(path, N_("is no picture, or a damaged one"), SAVE_AGAIN)
    return UnreadableFile(
        path,
        N_("is %(found)s, not %(wanted)s", found=match.kind, wanted=N_("a picture")),
        advice(match),
    )


def _too_large(path: Path) -> UnreadableFile:
    return UnreadableFile(
        path, N_("has more than %(number)s pixels", number=f"{MOST_PIXELS:,}"), SMALLER
    )
