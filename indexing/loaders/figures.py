"""The figures of a document: charts, photographs, drawings, re-encoded to be safe to show.

A picture is decoded and encoded again: what is served is Pillow's PNG or JPEG, and nothing of what
a file may have hidden in its own. Small ones, strips, and what stands on many pages of a document,
as logos do, are no figures.
"""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from indexing.documents import Figure

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST_SIDE = 60  # pixels
LEAST_PIXELS = 12_000
LONGEST_SHAPE = 12  # times as long as wide: rules and borders
MOST_PIXELS = 40_000_000
SHOWN_SIDE = 1600  # pixels; a larger one is made smaller
MOST_BYTES = 600_000  # of a PNG; with more it becomes a JPEG
MOST_FIGURES = 300  # of a document
MOST_BYTES_TOGETHER = 48 * 1024 * 1024
MOST_PLACES = 3  # of one picture in a document; a logo has more
CAPTION = 300  # characters
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")

_CAPTION = re.compile(
    r"(?i:figure|fig\.|abbildung|abb\.|chart|diagramm?|photo|foto|plate|map|scheme)\s*"
    r"(?:\d[\w.-]*|[A-Z][\d.]*\b|[:.])"
)


@dataclass(slots=True)
class Gallery:
    """The figures of a document as they are found."""

    _figures: list[Figure] = field(default_factory=list)
    _places: Counter[str] = field(default_factory=Counter)
    _bytes: int = 0

    def add(
        self, picture: bytes | Image, *, start: int, caption: str = "", page: int | None = None
    ) -> None:
        """Add a picture, if it is a figure; one that cannot be decoded is none.

        Args:
            picture: A file, or a picture that is decoded.
            start: The character of the text beside which it stands.
            caption: What the document says of it.
            page: Number of its page.
        """
        if len(self._figures) == MOST_FIGURES or self._bytes > MOST_BYTES_TOGETHER:
            return
        image = picture_file(picture)
        if image is None:
            return
        data, media_type, (width, height) = image
        key = sha256(data).hexdigest()
        self._places[key] += 1
        if any(one.key == key and one.page == page for one in self._figures):
            return
        caption = " ".join(caption.split())[:CAPTION]
        self._figures.append(Figure(start, width, height, media_type, caption, page, key, data))
        self._bytes += len(data)

    def figures(self) -> tuple[Figure, ...]:
        """In the order of the text, without what stands in many places."""
        figures = (one for one in self._figures if self._places[one.key] <= MOST_PLACES)
        return tuple(sorted(figures, key=lambda one: one.start))


def is_figure(width: int, height: int) -> bool:
    """Whether a picture of that many pixels may be a figure."""
    short, long = sorted((width, height))
    return (
        short >= LEAST_SIDE
        and LEAST_PIXELS <= width * height <= MOST_PIXELS
        and long <= LONGEST_SHAPE * short
    )


def is_caption(line: str) -> bool:
    """Whether a line begins as captions do: "Figure 3: ..."."""
    return bool(_CAPTION.match(line.strip()))


def picture_file(
    picture: bytes | Image, *, side: int = SHOWN_SIDE
) -> tuple[bytes, str, tuple[int, int]] | None:
    """A file made of a picture, its media type and size; None where it is no figure.

    Args:
        picture: A file, or a picture that is decoded.
        side: Most pixels of a side; a larger one is made smaller.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(picture, bytes):
                opened = Image.open(io.BytesIO(picture), formats=FORMATS)
                if not is_figure(*opened.size):
                    return None
                opened.draft("RGB", (side, side))
                picture, lossy = opened, opened.format == "JPEG"
            else:
                lossy = False
                if not is_figure(*picture.size):
                    return None
            return _encoded(picture, side, lossy=lossy)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _encoded(
    picture: Image, side: int, *, lossy: bool
) -> tuple[bytes, str, tuple[int, int]] | None:
    from PIL import Image

    picture.load()
    if picture.mode in ("RGBA", "LA", "PA", "P"):
        clear = picture.convert("RGBA")
        picture = Image.new("RGB", clear.size, "white")
        picture.paste(clear, mask=clear.getchannel("A"))
    elif picture.mode not in ("L", "RGB"):
        picture = picture.convert("RGB")
    picture.thumbnail((side, side))
    if all(low == high for low, high in _extrema(picture)):  # one colour
        return None
    stream = io.BytesIO()
    if not lossy:
        picture.save(stream, "PNG", optimize=False)
        if stream.tell() <= MOST_BYTES:
            return stream.getvalue(), "image/png", picture.size
        stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=85)
    return stream.getvalue(), "image/jpeg", picture.size


def _extrema(picture: Image) -> list[tuple[float, float]]:
    """The lowest and the highest value of each band."""
    return [band.getextrema() for band in picture.split()]  # type: ignore[misc]
