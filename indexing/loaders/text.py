"""Plain text, which may be a transcript."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders.charset import printable, read_text, remarks
from indexing.text import transcripts


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The text as it stands.

    Raises:
        UnreadableFile: It is binary, or in no encoding that can be recognised.
    """
    text = read_text(path)
    yield Extract(text, title=printable(path.stem), utterances=transcripts.find_utterances(text))
    yield from remarks(path)
