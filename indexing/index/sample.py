"""Some documents of a corpus, by which it is told how much a score varies over all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.index.dense.faiss_index import inner_products
from indexing.index.dense.vectors import Vectors
from indexing.index.selection import Selection

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

SAMPLE = 16384  # passages, about
FEWEST = 8  # documents at least


@dataclass(frozen=True)
class Sample:
    """Documents at even distances.

    Attributes:
        selection: The documents and their passages.
        vectors: (p, d) of these passages, side by side; None where they are not kept.
    """

    selection: Selection
    vectors: FloatArray | None = None

    @classmethod
    def of(cls, documents: IntArray, bounds: IntArray) -> Sample:
        """Of some documents by number; `bounds` is where the passages of all documents begin."""
        count = round(SAMPLE * (len(bounds) - 1) / int(bounds[-1]))
        count = min(len(documents), max(count, FEWEST))
        evenly = documents[np.linspace(0, len(documents) - 1, count).astype(int)]
        return cls(Selection.of(evenly, bounds))

    def kept(self, index: Vectors) -> Sample:
        """The same with its vectors in memory: each query is compared with them."""
        return Sample(self.selection, np.ascontiguousarray(index.at(self.selection.passages)))

    def similarity(self, index: Vectors, queries: FloatArray) -> FloatArray:
        """(q, p) of queries (q, d) with each passage, whose vectors are in the index."""
        if self.vectors is None:
            return index.inner_products(queries, self.selection.passages)
        return inner_products(queries, self.vectors, np.arange(len(self.vectors)))
