"""What a corpus holds, and how it was made."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from indexing.encoder.fingerprint import Fingerprint
from indexing.store.store import Store
from rag_app.corpus.indexes import Indexes


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
        segments: How many files the index consists of.
        waiting: How many of them wait to be merged, in a pause of whoever writes.
        merging: Who merges now, in words; "" for nobody.
        shards: Among how many the search is divided; 0 in one piece.
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
    segments: int = 0
    waiting: int = 0
    merging: str = ""
    shards: int = 0


def corpus_info(folder: Path, store: Store, indexes: Indexes) -> CorpusInfo:
    """Count what is in a store."""
    manifest, published = indexes.manifest, indexes.published
    entries = store.entries()
    return CorpusInfo(
        folder=str(folder),
        documents=len(entries),
        passages=sum(entry.passages for entry in entries),
        words=sum(entry.words for entry in entries),
        tokens=sum(entry.tokens for entry in entries),
        generation=store.generation,
        fingerprint=store.fingerprint(),
        snapshot="current" if published.are_current(store) else "missing",
        bytes=_size(folder),
        segments=published.count(store),
        waiting=published.waiting(store),
        merging=published.merging,
        shards=len(manifest.shards) if manifest else 0,
    )


def _size(folder: Path) -> int:
    """Bytes of all files in a folder, but for those that a writer removes meanwhile."""
    total = 0
    for here, _, names in os.walk(folder):  # goes on where a folder is gone, unlike `rglob`
        for name in names:
            with suppress(OSError):
                total += Path(here, name).stat().st_size
    return total
