"""RapidOCR: PP-OCRv6 on onnxruntime; models for fifty languages lie in the wheel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexing.ocr.reading import Engine, Line, OcrSettings

if TYPE_CHECKING:
    from PIL.Image import Image

THREADS = 4  # more make a page hardly quicker


@dataclass(frozen=True, slots=True)
class RapidOcr:
    """The models, loaded."""

    name: str
    model: Any

    def read(self, picture: Image) -> Sequence[Line]:
        """The lines that the detector finds, from top to bottom."""
        import numpy as np

        pixels = np.asarray(picture.convert("RGB"))[:, :, ::-1]  # OpenCV's order of the colours
        result = self.model(pixels)
        if result.boxes is None or result.txts is None:
            return []
        lines = []
        for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
            left, top = corners.min(axis=0) / picture.size
            right, bottom = corners.max(axis=0) / picture.size
            place = (float(left), float(top), float(right), float(bottom))
            lines.append(Line(*place, str(text), float(score)))
        return lines


def missing(languages: tuple[str, ...]) -> str:
    """Nothing: its model reads all its languages without being told which."""
    return ""


def engine(settings: OcrSettings) -> Engine:
    """The models of the wheel; none is fetched."""
    from rapidocr import RapidOCR

    model = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Global.max_side_len": 3000,
            "EngineConfig.onnxruntime.intra_op_num_threads": min(THREADS, os.cpu_count() or 1),
        }
    )
    from importlib.metadata import version

    return RapidOcr(f"rapidocr {version('rapidocr')}", model)
