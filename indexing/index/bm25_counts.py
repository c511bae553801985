"""What BM25 weights are made of: for a shard, whose weights depend on what the others hold.

A snapshot weighs its postings when it is built. A shard keeps beside them how often each term
stands in each unit, and how long the units are, and weighs the postings of a question's terms when
the frequencies in all shards are known: by the same formula, to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from indexing.index.bm25 import Bm25Index, norms, term_weights

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Bm25Counts:
    """Beside the postings of a `Bm25Index`.

    Attributes:
        counts: (postings,) how often the term stands in the unit.
        lengths: (units,) terms in each unit.
    """

    counts: FloatArray
    lengths: FloatArray

    @cached_property
    def total_length(self) -> int:
        """Terms in all units."""
        return int(self.lengths.sum(dtype=np.float64))

    def weigh(
        self, postings: Bm25Index, terms: IntArray, *, rarity: FloatArray, mean: float
    ) -> Bm25Index:
        """The postings of some terms, weighed, under their positions as keys.

        Args:
            postings: What the counts stand beside.
            terms: (n,) keys of terms there.
            rarity: (n,) of `idf`, over all shards.
            mean: Length of a unit, over all shards.
        """
        spans = _spans(postings, terms)
        bounds = np.append(0, np.cumsum(spans[:, 1] - spans[:, 0]))
        units = np.concatenate([postings.units[:0], *(postings.units[a:b] for a, b in spans)])
        counts = np.concatenate([self.counts[:0], *(self.counts[a:b] for a, b in spans)])
        norm = norms(self.lengths[units], mean)
        weights = term_weights(np.repeat(rarity, np.diff(bounds)), counts, norm)
        return Bm25Index(np.arange(len(terms)), bounds, units, weights, postings.size)

    def save(self, folder: Path, name: str) -> None:
        """Write the arrays as `name`.*.npy."""
        np.save(folder / f"{name}.counts.npy", self.counts)
        np.save(folder / f"{name}.lengths.npy", self.lengths)

    @classmethod
    def load(cls, folder: Path, name: str) -> Bm25Counts:
        """Map arrays that `save` wrote into memory."""
        counts, lengths = (
            np.asarray(np.load(folder / f"{name}.{part}.npy", mmap_mode="r", allow_pickle=False))
            for part in ("counts", "lengths")
        )
        return cls(counts, lengths)


def frequencies(postings: Bm25Index, terms: IntArray) -> IntArray:
    """(n,) in how many units each of some terms (n,) stands; 0 for a term that is not there."""
    spans = _spans(postings, terms)
    return np.asarray(spans[:, 1] - spans[:, 0], np.int64)


def _spans(postings: Bm25Index, terms: IntArray) -> IntArray:
    """(n, 2) where the postings of each term begin and end."""
    if not len(postings.keys):
        return np.zeros((len(terms), 2), np.int64)
    at = np.minimum(np.searchsorted(postings.keys, terms), len(postings.keys) - 1)
    spans = np.stack((postings.bounds[at], postings.bounds[at + 1]), axis=1)
    return np.asarray(np.where((postings.keys[at] == terms)[:, None], spans, 0), np.int64)
