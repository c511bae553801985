"""Files read as the program reads them, in one process for all tests of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indexing.documents import Document
from indexing.files import FileReader
from indexing.ocr.reading import OcrSettings
from indexing.walk import Failure

READER = FileReader(ocr=OcrSettings("off"))
read = READER.read

_WITH_OCR = FileReader(ocr=OcrSettings("rapidocr"))
_READINGS: dict[str, Any] = {}


def read_by_ocr(path: Path) -> list[Document | Failure]:
    """As `read`, but with OCR, which reads the same picture once in a run."""
    return _WITH_OCR.read(path, readings=_READINGS)
