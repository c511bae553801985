"""Everything a search needs beside the store: FAISS and BM25 over one generation of a corpus.

Derived and disposable. A snapshot is a folder `g<generation>` written under another name and
renamed when it is whole. It is taken only if its stamp is the store's, its manifest is there and
every file has the length and checksum that the manifest names; else it is made again. Of large
files that nobody has written to since, the length is enough.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.index.bm25 import Bm25Index
from indexing.index.bm25_builder import BLOCK, LexicalIndexBuilder, empty_vectors
from indexing.index.bm25_counts import Bm25Counts
from indexing.index.faiss_index import FLAT_BELOW, FaissIndex
from indexing.index.padding import Padding
from indexing.index.sample import Sample
from indexing.index.speakers import Speakers
from indexing.store.store import Store
from indexing.text.language import language_of
from indexing.text.vocabulary import Lexicon

FloatArray = npt.NDArray[np.float32]

FORMAT = 6
LARGE = 64 << 20  # bytes: files that are read whole only where they have been written to
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
        counts: Of a shard: what the weights of each of `POSTINGS` are made of, else empty.
        languages: Of a shard: the row of the first document in each language, else empty.
    """

    generation: int
    stamp: str
    document_rows: npt.NDArray[np.int64]
    passage_rows: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    document_vectors: FaissIndex
    passage_vectors: FaissIndex
    lexicon: Lexicon
    passages: Bm25Index
    passage_pairs: Bm25Index
    documents: Bm25Index
    document_pairs: Bm25Index
    speakers: Speakers
    counts: Mapping[str, Bm25Counts] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def first_passages(self) -> npt.NDArray[np.int64]:
        """(documents,) position of each document's first passage."""
        return np.searchsorted(self.owner, np.arange(len(self.document_rows)))

    @cached_property
    def padding(self) -> Padding:
        """Where passages stand in a row with empty places between documents."""
        return Padding.of(self.owner, len(self.document_rows))

    @cached_property
    def bounds(self) -> npt.NDArray[np.int64]:
        """(documents + 1,) where the passages of each document begin."""
        return np.append(self.first_passages, len(self.owner))

    @cached_property
    def sample(self) -> Sample:
        """Documents at even distances, their vectors in memory."""
        every = np.arange(len(self.document_rows))
        return Sample.of(every, self.bounds).kept(self.passage_vectors)

    @classmethod
    def build(
        cls,
        store: Store,
        *,
        shard: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Snapshot:
        """Make one from the store.

        Args:
            store: The documents.
            shard: Whether other stores hold documents of the same corpus: all vectors are compared
                then, however many, and weights are made when the frequencies in all are known.
            progress: Called with documents done, and their number.
        """
        with store.reading():
            generation, stamp = store.generation, store.stamp
            spans, speakers = store.passage_spans(), store.passage_speakers()
            document_rows, bounds = np.unique(spans[:, 1], return_index=True)
            document_vectors, passage_vectors = _vectors(store, len(document_rows), len(spans))
            lexicon, words = _invert_texts(store, spans, np.append(bounds, len(spans)), progress)
            languages = _first_rows(store, lexicon) if shard else {}
        flat_below = sys.maxsize if shard else None
        return cls(
            generation=generation,
            stamp=stamp,
            document_rows=document_rows,
            passage_rows=spans[:, 0].copy(),
            owner=np.searchsorted(document_rows, spans[:, 1]),
            document_vectors=FaissIndex.build(document_vectors, flat_below=flat_below),
            passage_vectors=FaissIndex.build(passage_vectors, flat_below=flat_below),
            lexicon=lexicon,
            **words.postings(len(spans), len(document_rows)),
            speakers=Speakers.of(speakers),
            counts=words.counts(len(spans), len(document_rows)) if shard else {},
            languages=languages,
        )

    def on(self, device: str) -> Snapshot:
        """The same, whose vectors are compared on a device, as torch calls it.

        Raises:
            CorpusError: There is no such device, or it has no room.
        """
        return replace(
            self,
            document_vectors=self.document_vectors.on(device),
            passage_vectors=self.passage_vectors.on(device),
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
        for name, counts in self.counts.items():
            counts.save(draft, name)
        files = {file.name: _checksum(file) for file in sorted(draft.iterdir())}
        for name in files:
            _flush(draft / name)
        manifest = {"format": FORMAT, "stamp": self.stamp, "files": files}
        manifest["languages"] = dict(self.languages)
        (draft / "manifest.json").write_text(json.dumps(manifest, indent=1), "utf-8")
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
        for other in folder.glob("g*"):
            if not other.name[1:].isdecimal() or int(other.name[1:]) < self.generation:
                shutil.rmtree(other, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path, store: Store) -> Snapshot | None:
        """Read the snapshot of a store as it is now; None when missing, stale or damaged."""
        if not is_saved(folder, store):
            return None
        with store.reading():
            generation, stamp = store.generation, store.stamp
        try:
            source = folder / f"g{generation}"
            languages = json.loads((source / "manifest.json").read_text("utf-8"))["languages"]
            return cls._read(source, generation, stamp, languages)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            return None

    @classmethod
    def damage(cls, folder: Path, store: Store) -> str:
        """What is wrong with what is saved; "" where it is sound, stale or not there."""
        saved = [int(one.name[1:]) for one in folder.glob("g*") if one.name[1:].isdecimal()]
        with store.reading():  # after the folder: a writer commits first
            generation, stamp = store.generation, store.stamp
            if max(saved, default=0) > generation:
                return (
                    f"of generation {max(saved)}, the database is at {generation}: its last "
                    "changes are lost; run rag-app index again"
                )
            source = folder / f"g{generation}"
            if generation not in saved:
                return ""
            try:
                manifest = json.loads((source / "manifest.json").read_text("utf-8"))
                if (manifest["format"], manifest["stamp"]) != (FORMAT, stamp):
                    return ""
                files = [
                    n for n, seal in manifest["files"].items() if _checksum(source / n) != seal
                ]
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                return f"its manifest or a file cannot be read ({error})"
            if files:
                return f"not as they were written: {', '.join(files)}"
            return "" if cls.load(folder, store) is not None else "cannot be read"

    @classmethod
    def _read(
        cls, source: Path, generation: int, stamp: str, languages: Mapping[str, int]
    ) -> Snapshot:
        arrays = {
            name: np.load(source / f"{name}.npy", allow_pickle=False)
            for name in ("document_rows", "passage_rows", "owner")
        }
        sizes = {"passages": len(arrays["owner"]), "documents": len(arrays["document_rows"])}
        postings: dict[str, Any] = {
            name: Bm25Index.load(source, name, sizes[f"{name.split('_')[0].rstrip('s')}s"])
            for name in POSTINGS
        }
        return cls(
            generation=generation,
            stamp=stamp,
            **arrays,
            document_vectors=FaissIndex.load(source / "documents.faiss"),
            passage_vectors=FaissIndex.load(source / "passages.faiss"),
            lexicon=Lexicon.load(source / "lexicon.txt"),
            **postings,
            speakers=Speakers.load(source, sizes["passages"]),
            counts={n: Bm25Counts.load(source, n) for n in POSTINGS} if languages else {},
            languages=languages,
        )


def is_saved(folder: Path, store: Store) -> bool:
    """Whether the snapshot of a store as it is now is there, each file as it was written."""
    with store.reading():
        generation, stamp = store.generation, store.stamp
    source = folder / f"g{generation}"
    try:
        manifest = json.loads((source / "manifest.json").read_text("utf-8"))
        if (manifest["format"], manifest["stamp"]) != (FORMAT, stamp):
            return False
        since = (source / "manifest.json").stat().st_mtime_ns
        return all(
            _is_as_written(source / name, seal, since) for name, seal in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _vectors(store: Store, documents: int, passages: int) -> tuple[FloatArray, FloatArray]:
    """(documents, d) and (passages, d), in files where there are many."""
    dimension = next((len(vector) for _, vector, _ in store.vectors()), 1)
    wholes = empty_vectors(documents, dimension, in_memory=documents < FLAT_BELOW)
    parts = empty_vectors(passages, dimension, in_memory=passages < FLAT_BELOW)
    start = 0
    for number, (_, whole, own) in enumerate(store.vectors()):
        wholes[number] = whole
        parts[start : start + len(own)] = own
        start += len(own)
    return wholes, parts


def _invert_texts(
    store: Store,
    spans: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.int64],
    progress: Callable[[int, int], None] | None,
) -> tuple[Lexicon, LexicalIndexBuilder]:
    """Every passage's stems. `bounds` (documents + 1,) is where the spans of a document begin."""
    lexicon, words = Lexicon(), LexicalIndexBuilder()
    chunks: list[npt.NDArray[np.int64]] = []
    first = pending = 0
    for number, (_, text) in enumerate(store.texts()):
        own = spans[bounds[number] : bounds[number + 1], 2:].tolist()
        language = language_of(text)
        learnt = (lexicon.learn(text[start:end], language) for start, end in own)
        chunks += [np.array(numbers, np.int64) for numbers in learnt]
        pending += sum(map(len, chunks[-len(own) :]))
        if pending >= BLOCK or number == len(bounds) - 2:
            passage = np.arange(bounds[first], bounds[number + 1], dtype=np.int32)
            document = np.repeat(np.arange(first, number + 1), np.diff(bounds[first : number + 2]))
            lengths = [len(chunk) for chunk in chunks]
            words.add(
                np.concatenate(chunks),
                np.repeat(passage, lengths),
                np.repeat(document.astype(np.int32), lengths),
                lexicon.is_function(),
            )
            chunks, first, pending = [], number + 1, 0
        if progress:
            progress(number + 1, len(bounds) - 1)
    return lexicon, words


def _first_rows(store: Store, lexicon: Lexicon) -> dict[str, int]:
    """The row of the first document in each language of a lexicon."""
    rows: dict[str, int] = {}
    for row, text in store.texts():
        rows.setdefault(language_of(text), row)
        if len(rows) == len(lexicon.languages):
            break
    return rows


def _is_as_written(file: Path, seal: list[int], since: int) -> bool:
    """Whether a file is as its seal says.

    A large one that nobody has written to since then (ns) is believed: reading gigabytes takes
    seconds, and drives out of memory what a search wants there. `Snapshot.damage` reads it.
    """
    found = file.stat()
    if found.st_size != seal[0]:
        return False
    untouched = max(found.st_mtime_ns, found.st_ctime_ns) <= since
    return (found.st_size >= LARGE and untouched) or _checksum(file) == seal


def _flush(file: Path) -> None:
    """See that a large file is on the disk before a manifest is written that vouches for it."""
    if file.stat().st_size >= LARGE:
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def _checksum(file: Path) -> list[int]:
    """Length and CRC-32 of a file."""
    crc, length = 0, 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 22):
            crc = zlib.crc32(block, crc)
            length += len(block)
    return [length, crc]
