"""Everything a search needs beside the store: FAISS and BM25 over one generation of a corpus.

Derived and disposable. A snapshot is a folder `g<generation>` written under another name and
renamed when it is whole. It is taken only if its stamp is the store's, its manifest is there and
every file has the length and checksum that the manifest names; else it is made again.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.lexicon import Lexicon, pair_keys
from indexing.postings import Postings
from indexing.speakers import Speakers
from indexing.store import Store
from indexing.vectors import VectorIndex

FORMAT = 3
POSTINGS = ("passages", "passage_pairs", "documents", "document_pairs")


@dataclass(frozen=True)
class Snapshot:
    """One generation of a corpus, ready to be searched. Passages stand in document order.

    Attributes:
        generation: The store's generation this was made from.
        stamp: The store's stamp at that time, which no other state of it has.
        document_rows: (documents,) int64 row numbers in the store, ascending.
        passage_rows: (passages,) int64 row numbers in the store.
        owner: (passages,) int64 position of each passage's document.
        document_vectors: FAISS over (documents, d).
        passage_vectors: FAISS over (passages, d).
        lexicon: Stems to numbers.
        passages: BM25 of stems over passages.
        passage_pairs: BM25 of stem bigrams over passages.
        documents: BM25 of stems over whole documents.
        document_pairs: BM25 of stem bigrams over whole documents.
        speakers: Who speaks in which passage.
    """

    generation: int
    stamp: str
    document_rows: npt.NDArray[np.int64]
    passage_rows: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    document_vectors: VectorIndex
    passage_vectors: VectorIndex
    lexicon: Lexicon
    passages: Postings
    passage_pairs: Postings
    documents: Postings
    document_pairs: Postings
    speakers: Speakers

    @classmethod
    def build(cls, store: Store, *, progress: Callable[[int, int], None] | None = None) -> Snapshot:
        """Make one from the store; `progress(done, total)` counts documents."""
        with store.reading():
            generation, stamp = store.generation, store.stamp
            rows = store.passage_rows()
            vectors = list(store.vectors())
            document_rows = np.array([row for row, _, _ in vectors], np.int64)
            owner = np.searchsorted(document_rows, np.array([p.document for p in rows], np.int64))
            spans: dict[int, list[tuple[int, int]]] = {}
            for p in rows:
                spans.setdefault(p.document, []).append((p.passage.start, p.passage.end))
            lexicon = Lexicon()
            chunks: list[npt.NDArray[np.int64]] = []
            for done, (row, text) in enumerate(store.texts(), 1):
                chunks += [np.array(lexicon.learn(text[a:b]), np.int64) for a, b in spans[row]]
                if progress:
                    progress(done, len(vectors))
        none = np.zeros((0, len(vectors[0][1]) if vectors else 1), np.float32)
        return cls(
            generation=generation,
            stamp=stamp,
            document_rows=document_rows,
            passage_rows=np.array([p.row for p in rows], np.int64),
            owner=owner,
            document_vectors=VectorIndex.build(np.vstack([none, *(v for _, v, _ in vectors)])),
            passage_vectors=VectorIndex.build(np.vstack([none, *(p for _, _, p in vectors)])),
            lexicon=lexicon,
            **_postings(lexicon, chunks, owner, len(document_rows)),
            speakers=Speakers.of([p.passage.speakers for p in rows]),
        )

    def save(self, folder: Path) -> None:
        """Write to `folder/g<generation>` at once or not at all, and drop older snapshots.

        One process at a time: the caller holds a lock.
        """
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"g{self.generation}"
        draft = folder / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        for name in ("document_rows", "passage_rows", "owner"):
            np.save(draft / f"{name}.npy", getattr(self, name))
        self.document_vectors.save(draft / "documents.faiss")
        self.passage_vectors.save(draft / "passages.faiss")
        self.lexicon.save(draft / "lexicon.txt")
        for name in POSTINGS:
            getattr(self, name).save(draft, name)
        self.speakers.save(draft)
        files = {file.name: _seal(file) for file in sorted(draft.iterdir())}
        manifest = {"format": FORMAT, "stamp": self.stamp, "files": files}
        (draft / "manifest.json").write_text(json.dumps(manifest, indent=1), "utf-8")
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
        for other in folder.glob("g*"):
            if not other.name[1:].isdecimal() or int(other.name[1:]) < self.generation:
                shutil.rmtree(other, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path, store: Store) -> Snapshot | None:
        """Read the snapshot of a store as it is now; None when missing, stale or damaged."""
        with store.reading():
            generation, stamp = store.generation, store.stamp
        source = folder / f"g{generation}"
        try:
            manifest = json.loads((source / "manifest.json").read_text("utf-8"))
            if (manifest["format"], manifest["stamp"]) != (FORMAT, stamp):
                return None
            if any(_seal(source / name) != seal for name, seal in manifest["files"].items()):
                return None
            return cls._read(source, generation, stamp)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            return None

    @classmethod
    def _read(cls, source: Path, generation: int, stamp: str) -> Snapshot:
        arrays = {
            name: np.load(source / f"{name}.npy", allow_pickle=False)
            for name in ("document_rows", "passage_rows", "owner")
        }
        sizes = {"passages": len(arrays["owner"]), "documents": len(arrays["document_rows"])}
        postings: dict[str, Any] = {
            name: Postings.load(source, name, sizes[f"{name.split('_')[0].rstrip('s')}s"])
            for name in POSTINGS
        }
        return cls(
            generation=generation,
            stamp=stamp,
            **arrays,
            document_vectors=VectorIndex.load(source / "documents.faiss"),
            passage_vectors=VectorIndex.load(source / "passages.faiss"),
            lexicon=Lexicon.load(source / "lexicon.txt"),
            **postings,
            speakers=Speakers.load(source, sizes["passages"]),
        )


def _postings(
    lexicon: Lexicon,
    chunks: list[npt.NDArray[np.int64]],
    owner: npt.NDArray[np.int64],
    documents: int,
) -> dict[str, Postings]:
    """The four BM25 indexes from the stem numbers of each passage."""
    stems = np.concatenate(chunks) if chunks else np.zeros(0, np.int64)
    passage = np.repeat(np.arange(len(chunks), dtype=np.int32), [len(c) for c in chunks])
    document = owner[passage].astype(np.int32)
    content = ~lexicon.is_function()[stems] if len(stems) else np.zeros(0, np.bool_)
    pairs = pair_keys(stems[:-1], stems[1:])
    beside, within = passage[:-1] == passage[1:], document[:-1] == document[1:]
    return {
        "passages": Postings.build(stems[content], passage[content], len(chunks)),
        "passage_pairs": Postings.build(pairs[beside], passage[:-1][beside], len(chunks)),
        "documents": Postings.build(stems[content], document[content], documents),
        "document_pairs": Postings.build(pairs[within], document[:-1][within], documents),
    }


def _seal(file: Path) -> list[int]:
    """Length and CRC-32 of a file."""
    checksum, length = 0, 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 22):
            checksum = zlib.crc32(block, checksum)
            length += len(block)
    return [length, checksum]
