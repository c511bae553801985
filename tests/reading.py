"""Files read as the program reads them, in one process for all tests of a run."""

from __future__ import annotations

from indexing.files import FileReader
from indexing.ocr.reading import OcrSettings

READER = FileReader(ocr=OcrSettings("off"))
read = READER.read
