"""A segment: what a search needs of some documents, in one file that never changes.

Derived from the store and disposable. It knows nothing of other documents: how often a word occurs
in all of a corpus is summed over its segments when a question is asked (`snapshot`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.index.array_file import Seal, read_arrays, to_bytes, to_text, write_arrays
from indexing.index.dense.faiss_index import FLAT_BELOW, FaissIndex
from indexing.index.lexical.bm25_builder import BLOCK, LexicalIndexBuilder, empty_vectors
from indexing.index.lexical.postings import Postings
from indexing.index.speakers import Speakers
from indexing.store.view import StoreView
from indexing.text.language import language_of
from indexing.text.vocabulary import Lexicon

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

FORMAT = 7
POSTINGS = ("passages", "passage_pairs", "documents", "document_pairs")
_POSTINGS = (*POSTINGS, "function_words")
_VECTORS = ("document_vectors", "passage_vectors")
_ROWS = ("document_rows", "passage_rows", "bounds", "language")


@dataclass(frozen=True, eq=False)
class Segment:
    """Some documents with their passages, in document order."""

    document_rows: IntArray  # (documents,) int64 row numbers in the store, ascending
    passage_rows: IntArray  # (passages,) int64 row numbers in the store
    bounds: IntArray  # (documents + 1,) int64 where the passages of each document begin
    # (documents,) uint8 which of the lexicon's languages each document is in
    language: npt.NDArray[np.uint8]
    document_vectors: FaissIndex  # FAISS over (documents, d)
    passage_vectors: FaissIndex  # FAISS over (passages, d)
    lexicon: Lexicon  # stems to numbers
    # by the names of `POSTINGS`: stems, and stem bigrams, over passages and documents; and over
    # documents the function words, which the stems leave out
    postings: Mapping[str, Postings]
    speakers: Speakers  # who speaks in which passage

    @cached_property
    def known(self) -> dict[frozenset[str], frozenset[str]]:
        """Which of some stems its documents have, by those that were asked for often."""
        return {}

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(self.document_rows)

    @property
    def passages(self) -> int:
        """How many there are."""
        return len(self.passage_rows)

    @classmethod
    def build(
        cls,
        store: StoreView,  # the documents, at one moment
        rows: Sequence[int] | None = None,  # which of them, one at least; None for all
        *,
        exact: bool = False,  # whether all vectors are compared, however many
        # called with documents done, and their number
        progress: Callable[[int, int], None] | None = None,
    ) -> Segment:
        """Make one from a store."""
        with store.reading():
            spans = store.passage_spans(rows)
            document_rows, firsts = np.unique(spans[:, 1], return_index=True)
            bounds = np.append(firsts, len(spans)).astype(np.int64)
            documents, passages = _vectors(store, rows, len(document_rows), len(spans))
            lexicon, words, language = _invert_texts(store, rows, spans, bounds, progress)
            speakers = store.passage_speakers(rows)
        return cls(
            document_rows=document_rows,
            passage_rows=spans[:, 0].copy(),
            bounds=bounds,
            language=language,
            document_vectors=vector_index(documents, exact=exact),
            passage_vectors=vector_index(passages, exact=exact),
            lexicon=lexicon,
            postings=words.postings(len(spans), len(document_rows)),
            speakers=Speakers.of(speakers),
        )

    def save(self, path: Path, *, step: Callable[[], None] = lambda: None) -> Seal:
        """Write to a file; what it is from now on. Arguments and errors as in `write_arrays`."""
        return write_arrays(path, self._arrays(), step=step)

    def _arrays(self) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        for name in _ROWS:
            yield name, getattr(self, name)
        for name in _VECTORS:
            yield from getattr(self, name).arrays(name)
        for name in _POSTINGS:
            yield from self.postings[name].arrays(name)
        yield from self.speakers.postings.arrays("speakers")
        names = {"languages": self.lexicon.languages, "speakers": self.speakers.names}
        yield "names", to_bytes(json.dumps({"format": FORMAT, **names}))
        yield "stems", to_bytes("\n".join(self.lexicon.stems))

    @classmethod
    def load(cls, path: Path) -> Segment:
        """Map what `save` wrote.

        Raises:
            OSError: It cannot be read.
            ValueError: It is no segment of this format. So are KeyError and RuntimeError.
        """
        arrays = read_arrays(path)
        names = json.loads(to_text(arrays["names"]))
        if names["format"] != FORMAT:
            raise ValueError(f"{path}: format {names['format']}")
        stems = to_text(arrays["stems"])
        return cls(
            **{name: arrays[name] for name in _ROWS},  # type: ignore[arg-type]
            **{name: FaissIndex.from_arrays(arrays, name) for name in _VECTORS},  # type: ignore[arg-type]
            lexicon=Lexicon(stems.split("\n") if stems else [], names["languages"]),
            postings={name: Postings.from_arrays(arrays, name) for name in _POSTINGS},
            speakers=Speakers.from_arrays(
                tuple(names["speakers"]), arrays, len(arrays["passage_rows"])
            ),
        )


def vector_index(
    vectors: FloatArray, *, exact: bool, step: Callable[[], None] = lambda: None
) -> FaissIndex:
    """An index of a segment's vectors; `step` is called before each part of it."""
    return FaissIndex.build(vectors, flat_below=sys.maxsize if exact else None, step=step)


def _vectors(
    store: StoreView, rows: Sequence[int] | None, documents: int, passages: int
) -> tuple[FloatArray, FloatArray]:
    """(documents, d) and (passages, d), in files where there are many."""
    wholes = parts = np.zeros((0, 1), np.float32)
    start = 0
    for number, (_, whole, own) in enumerate(store.vectors(rows)):
        if not number:
            in_memory = passages < FLAT_BELOW
            wholes = empty_vectors(documents, len(whole), in_memory=in_memory)
            parts = empty_vectors(passages, len(whole), in_memory=in_memory)
        wholes[number] = whole
        parts[start : start + len(own)] = own
        start += len(own)
    return wholes, parts


def _invert_texts(
    store: StoreView,
    rows: Sequence[int] | None,
    spans: IntArray,
    bounds: IntArray,
    progress: Callable[[int, int], None] | None,
) -> tuple[Lexicon, LexicalIndexBuilder, npt.NDArray[np.uint8]]:
    """Every passage's stems, and the language of each document."""
    lexicon, words = Lexicon(), LexicalIndexBuilder()
    languages = np.zeros(len(bounds) - 1, np.uint8)
    chunks: list[IntArray] = []
    first = pending = 0
    for number, (_, text) in enumerate(store.texts(rows)):
        own = spans[bounds[number] : bounds[number + 1], 2:].tolist()
        language = language_of(text)
        learnt = (lexicon.learn(text[start:end], language) for start, end in own)
        chunks += [np.array(numbers, np.int64) for numbers in learnt]
        languages[number] = lexicon.languages.index(language)
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
    return lexicon, words, languages
