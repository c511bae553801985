"""What a corpus holds, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from indexing.encoder.fingerprint import Fingerprint
from indexing.store.store import Store


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """What a corpus holds and how it was made.

    Attributes:
        folder: Where it lies.
        documents: How many.
        passages: How many.
        words: In all documents.
        tokens: In all documents, by the encoder's tokenizer.
        generation: Raised by every change.
        fingerprint: How the vectors were made; None while it is empty.
        snapshot: "current" or "missing": whether the derived indexes are on disk.
        bytes: What the folder takes on disk.
    """

    folder: str
    documents: int
    passages: int
    words: int
    tokens: int
    generation: int
    fingerprint: Fingerprint | None
    snapshot: str
    bytes: int


def corpus_info(folder: Path, store: Store, *, saved: bool) -> CorpusInfo:
    """Count what is in a store.

    Args:
        folder: The folder of the corpus.
        store: What is in it, at one moment.
        saved: Whether the derived indexes are on disk.
    """
    entries = store.entries()
    return CorpusInfo(
        folder=str(folder),
        documents=len(entries),
        passages=sum(entry.passages for entry in entries),
        words=sum(entry.words for entry in entries),
        tokens=sum(entry.tokens for entry in entries),
        generation=store.generation,
        fingerprint=store.fingerprint(),
        snapshot="current" if saved else "missing",
        bytes=sum(_size(file) for file in folder.rglob("*")),
    )


def _size(file: Path) -> int:
    """Bytes of a file; 0 for a folder, or for what a writer has just replaced."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0
