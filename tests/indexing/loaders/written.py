"""Files with given text, written and read again."""

from __future__ import annotations

from pathlib import Path

from indexing.documents import Document
from tests.reading import read


def read_one(path: Path) -> Document:
    """The one document of a file."""
    (document,) = read(path)
    assert isinstance(document, Document), document
    return document


def read_text(path: Path, text: str) -> Document:
    """The one document of a file with this text."""
    path.write_text(text, encoding="utf-8")
    return read_one(path)
