"""Pages as a scanner gives them: known words drawn by Pillow, then skewed, blurred and noisy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

A4 = (210 / 25.4, 297 / 25.4)  # inches
MARGIN = 0.9  # inches
GAP = 0.35  # inches between two columns


@dataclass(frozen=True, slots=True)
class Scan:
    """How a page was scanned.

    Attributes:
        name: What a table calls it.
        dpi: Pixels an inch.
        points: Size of the letters; 72 points are an inch.
        columns: Columns of text.
        skew: Degrees by which the paper lay askew.
        blur: Standard deviation of the blur, in pixels.
        noise: Standard deviation of the noise, in grey levels of 256.
        paper: Grey level of the paper.
        quality: Of the JPEG that the scanner made of it; None for none.
        inches: Width and height of the paper.
    """

    name: str
    dpi: int = 200
    points: int = 11
    columns: int = 1
    skew: float = 0.0
    blur: float = 0.0
    noise: float = 0.0
    paper: int = 255
    quality: int | None = None
    inches: tuple[float, float] = A4


SCANS = (
    Scan("clean, 300 dpi", dpi=300),
    Scan("clean, 200 dpi"),
    Scan("two columns, 200 dpi", columns=2, points=9),
    Scan("skew of 1.5 degrees", skew=1.5, noise=6, paper=246),
    Scan("noise, blur, grey paper", blur=0.8, noise=16, paper=225, quality=60),
    Scan("fax, 150 dpi", dpi=150, blur=0.6, noise=20, skew=-0.7, quality=40),
)


def font_file(name: str = "DejaVuSerif.ttf") -> Path:
    """A font with the letters of Europe, which comes with matplotlib."""
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name


def draw(words: list[str], scan: Scan, *, seed: int = 0) -> tuple[Image, list[str]]:
    """A page filled with words, as grey levels, and the words that found room on it, in order."""
    from PIL import Image, ImageDraw, ImageFont

    size = tuple(round(side * scan.dpi) for side in scan.inches)
    page = Image.new("L", (size[0], size[1]), scan.paper)
    pen = ImageDraw.Draw(page)
    font = ImageFont.truetype(str(font_file()), round(scan.points * scan.dpi / 72))
    margin, gap = round(MARGIN * scan.dpi), round(GAP * scan.dpi)
    width = (size[0] - 2 * margin - gap * (scan.columns - 1)) // scan.columns
    step = round(font.size * 1.45)
    at = 0
    for column in range(scan.columns):
        left = margin + column * (width + gap)
        for top in range(margin, size[1] - margin, step):
            line: list[str] = []
            while at < len(words) and pen.textlength(" ".join([*line, words[at]]), font) <= width:
                line.append(words[at])
                at += 1
            pen.text((left, top), " ".join(line), fill=20, font=font)
    return _scanned(page, scan, np.random.default_rng(seed)), words[:at]


def _scanned(page: Image, scan: Scan, random: np.random.Generator) -> Image:
    """What the scanner makes of a page."""
    import io

    from PIL import Image, ImageFilter

    if scan.skew:
        bicubic = Image.Resampling.BICUBIC
        page = page.rotate(scan.skew, resample=bicubic, fillcolor=scan.paper)
    if scan.blur:
        page = page.filter(ImageFilter.GaussianBlur(scan.blur))
    if scan.noise:
        levels = np.asarray(page) + random.normal(0, scan.noise, (page.height, page.width))
        page = Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))
    if scan.quality is not None:
        stream = io.BytesIO()
        page.save(stream, "JPEG", quality=scan.quality)
        page = Image.open(io.BytesIO(stream.getvalue())).convert("L")
    return page
