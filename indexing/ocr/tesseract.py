"""Tesseract, by tesserocr; it needs data for each language, as in Debian's packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.ocr.reading import Engine, Line, OcrSettings

if TYPE_CHECKING:
    from PIL.Image import Image

DEFAULT = ("eng",)
FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/opt/homebrew/share/tessdata",
    "/usr/local/share/tessdata",
)


@dataclass(frozen=True, slots=True)
class Tesseract:
    """Which data it reads with."""

    name: str
    folder: Path
    languages: str

    def read(self, picture: Image) -> Sequence[Line]:
        """The lines of the page's blocks; confidence is the mean of the words."""
        from tesserocr import RIL, PyTessBaseAPI, iterate_level

        width, height = picture.size
        lines = []
        with PyTessBaseAPI(path=str(self.folder), lang=self.languages) as api:
            api.SetImage(picture)
            api.Recognize()
            for line in iterate_level(api.GetIterator(), RIL.TEXTLINE):
                box = line.BoundingBox(RIL.TEXTLINE)
                text = " ".join((line.GetUTF8Text(RIL.TEXTLINE) or "").split())
                if box is not None and text:
                    left, top, right, bottom = box
                    place = (left / width, top / height, right / width, bottom / height)
                    lines.append(Line(*place, text, line.Confidence(RIL.TEXTLINE) / 100))
        return lines


def missing(languages: tuple[str, ...]) -> str:
    """For which language there is no data, and what to do."""
    absent = [one for one in languages or DEFAULT if folder((one,)) is None]
    if not absent:
        return ""
    packages = " ".join(f"tesseract-ocr-{one.replace('_', '-')}" for one in absent)
    return (
        f"tesseract has no data for {', '.join(absent)}; run: apt install {packages}, "
        "or set TESSDATA_PREFIX to the folder that holds them"
    )


def folder(languages: tuple[str, ...]) -> Path | None:
    """Where the data of languages lies."""
    named = os.environ.get("TESSDATA_PREFIX")
    for one in (named, *FOLDERS) if named else FOLDERS:
        if all((Path(str(one)) / f"{each}.traineddata").is_file() for each in languages):
            return Path(str(one))
    return None


def engine(settings: OcrSettings) -> Engine:
    """Tesseract with the data of the languages, which must be there."""
    languages = settings.languages or DEFAULT
    data = folder(languages)
    assert data is not None, "asked for before"
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # more threads take longer, see its FAQ
    joined = "+".join(languages)
    from importlib.metadata import version

    return Tesseract(f"tesserocr {version('tesserocr')} {joined}", data, joined)
