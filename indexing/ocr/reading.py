"""What an OCR engine is, what it is given, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from indexing.text.reading_order import TextBox, rows_in_order

if TYPE_CHECKING:
    from PIL.Image import Image

    from indexing.text.reading_order import Row

AUTO = "auto"
OFF = "off"


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """How pages that are pictures are read.

    Attributes:
        engine: A name of `ENGINES`, "auto" for the first that is there, "off" for none.
        languages: As the engine names them; empty for what it knows by itself. rapidocr reads the
            languages of its model whatever is named here, tesseract those named ("eng", "deu").
        dpi: Pixels an inch at which pages are drawn.
        pixels: Of a picture, at most; a larger one is made smaller.
        seconds: CPU time for a page.
    """

    engine: str = AUTO
    languages: tuple[str, ...] = ()
    dpi: int = 200
    pixels: int = 16_000_000
    seconds: int = 120

    @property
    def is_named(self) -> bool:
        """Whether somebody asked for an engine by its name."""
        return self.engine not in (AUTO, OFF)


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it was recognised; places are shares of the picture's width and height."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    confidence: float

    @property
    def values(self) -> list[float | str]:
        """As it is stored: places to 1/10,000."""
        places = (self.left, self.top, self.right, self.bottom)
        return [*(round(each, 4) for each in places), self.text, round(self.confidence, 3)]


@dataclass(frozen=True, slots=True)
class PictureReading:
    """A page as it was recognised."""

    lines: tuple[Line, ...]  # in the order of the engine
    engine: str  # what read it, with version and languages
    failure: str = ""  # why there are no lines; "" where there was nothing to read

    @property
    def confidence(self) -> float | None:
        """Mean of the lines, by their letters, from 0 to 1; None without any."""
        letters = sum(len(line.text) for line in self.lines)
        sure = sum(len(line.text) * line.confidence for line in self.lines)
        return sure / letters if letters else None

    def rows(self, width: float, height: float) -> list[Row]:
        """The lines in reading order, on a page of that size."""
        return rows_in_order(
            [
                TextBox(
                    line.left * width,
                    line.top * height,
                    line.right * width,
                    line.bottom * height,
                    line.text,
                )
                for line in self.lines
            ]
        )

    def pack(self) -> dict[str, Any]:
        """As JSON has it."""
        lines = [line.values for line in self.lines]
        return {"lines": lines, "engine": self.engine, "failure": self.failure}

    @classmethod
    def unpack(cls, values: Any) -> PictureReading:  # noqa: ANN401 - JSON
        """The inverse of `pack`.

        Raises:
            ValueError: It is no such thing.
        """
        try:
            lines = tuple(
                Line(float(left), float(top), float(right), float(bottom), str(text), float(sure))
                for left, top, right, bottom, text, sure in values["lines"]
            )
            return cls(lines, str(values["engine"]), str(values["failure"]))
        except (TypeError, KeyError) as error:
            raise ValueError(f"not what was recognised: {error}") from error


class Engine(Protocol):
    """Something that reads pictures of pages."""

    @property
    def name(self) -> str:
        """With version and languages: what it read may be kept under this name."""

    def read(self, picture: Image) -> Sequence[Line]:
        """The lines of a picture in RGB or grey levels."""
