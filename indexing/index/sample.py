"""Some documents of a corpus, by which it is told how much a score varies over all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from indexing.index.dense.faiss_index import inner_products
from indexing.index.dense.vectors import Vectors
from indexing.index.selection import Selection

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

SAMPLE = 16384  # passages, about
FEWEST = 8  # documents at least
LITTLE = 0.1  # share of the documents that may come or go before others are taken


@dataclass(frozen=True)
class Sample:
    """Documents at even distances."""

    selection: Selection  # the documents and their passages
    among: int  # of how many they were taken
    # (p, d) of these passages, side by side; None where they are not kept
    vectors: FloatArray | None = None

    @classmethod
    def of(cls, documents: IntArray, bounds: IntArray) -> Sample:
        """Of some documents by number; `bounds` is where the passages of all documents begin."""
        count = round(SAMPLE * (len(bounds) - 1) / int(bounds[-1]))
        count = min(len(documents), max(count, FEWEST))
        evenly = documents[np.linspace(0, len(documents) - 1, count).astype(int)]
        return cls(Selection.of(evenly, bounds), len(documents))

    def kept(self, index: Vectors) -> Sample:
        """The same with its vectors in memory: each query is compared with them."""
        return replace(self, vectors=np.ascontiguousarray(index.at(self.selection.passages)))

    def moved(self, documents: IntArray, bounds: IntArray) -> Sample | None:
        """The same documents in a corpus that has changed; None where it is time for others.

        Args:
            documents: (c,) where they are now.
            bounds: Where the passages of all documents begin now.
        """
        changed = abs(len(bounds) - 1 - self.among)
        if changed > LITTLE * self.among:
            return None
        return replace(self, selection=Selection.of(documents, bounds))

    def similarity(self, index: Vectors, queries: FloatArray) -> FloatArray:
        """(q, p) of queries (q, d) with each passage, whose vectors are in the index."""
        if self.vectors is None:
            return index.inner_products(queries, self.selection.passages)
        return inner_products(queries, self.vectors, np.arange(len(self.vectors)))
