"""Some documents of a corpus with all their passages, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.index.padding import Padding

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Selection:
    """Some documents with all their passages, side by side."""

    documents: IntArray  # (c,) which documents
    # (c, 2) position of each one's first passage in the corpus, and after its last
    bounds: IntArray
    passages: IntArray  # (p,) position of each passage in the corpus
    starts: IntArray  # (c,) where each document's passages begin here
    owner: IntArray  # (p,) which of the c documents each passage is of

    @classmethod
    def of(cls, documents: IntArray, bounds: IntArray) -> Selection:
        """Documents by number; `bounds` (documents + 1,) is where their passages begin."""
        pairs = np.stack((bounds[documents], bounds[documents + 1]), axis=1)
        lengths = pairs[:, 1] - pairs[:, 0]
        starts = np.cumsum(lengths) - lengths
        owner = np.repeat(np.arange(len(documents)), lengths)
        passages = np.arange(len(owner)) - starts[owner] + pairs[owner, 0]
        return cls(documents, pairs, passages, starts, owner)

    def means(self, scores: FloatArray, reach: int) -> FloatArray:
        """(p,) the mean of each of the scores (p,) with so many neighbours on either side.

        Neighbours beyond the document count as 0.
        """
        if not reach:
            return scores
        return self._padding.window_sums(scores, reach) / np.float32(2 * reach + 1)

    @cached_property
    def _padding(self) -> Padding:
        return Padding.of(self.starts, len(self.passages))
