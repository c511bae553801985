"""BM25: which units (passages, or documents) hold a term, and how much that says.

Weights are computed when the index is built, so that scoring a query is adding up rows (eager
scoring: Lù, BM25S, arXiv 2407.03618). The formula is Lucene's (Kamphuis et al., "Which BM25 do you
mean?", 2020): idf = ln(1 + (N - df + 0.5) / (df + 0.5)), weight = idf * tf / (tf + k1 * (1 - b +
b * length / mean length)), times k1 + 1 as in Robertson's original, which moves no rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

K1 = 1.5
B = 0.75


@dataclass(frozen=True)
class Bm25Index:
    """An inverted index whose values are BM25 weights.

    Attributes:
        keys: (terms,) int64 term keys, ascending.
        bounds: (terms + 1,) int64; the postings of term i are bounds[i]:bounds[i + 1].
        units: (postings,) int32 unit numbers, ascending within a term.
        weights: (postings,) float32.
        size: Number of units.
    """

    keys: IntArray
    bounds: IntArray
    units: npt.NDArray[np.int32]
    weights: FloatArray
    size: int

    @classmethod
    def build(
        cls,
        keys: IntArray,
        units: npt.NDArray[np.int32],
        size: int,
        *,
        k1: float = K1,
        b: float = B,
    ) -> Bm25Index:
        """From term occurrences: keys (n,) and the unit (n,) each stands in."""
        order = np.lexsort((units, keys))
        keys, units = keys[order], units[order]
        new = np.ones(len(keys), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]) | (units[1:] != units[:-1])
        firsts = np.flatnonzero(new)
        counts = np.diff(np.append(firsts, len(keys))).astype(np.float32)
        lengths = np.bincount(units, minlength=size).astype(np.float32)
        norm = norms(lengths, mean_length(lengths), k1=k1, b=b)
        keys, units = keys[firsts], units[firsts]
        terms, starts = np.unique(keys, return_index=True)
        bounds = np.append(starts, len(keys)).astype(np.int64)
        rarity = np.repeat(idf(np.diff(bounds), size), np.diff(bounds))
        weights = term_weights(rarity, counts, norm[units], k1=k1)
        return cls(terms, bounds, units.astype(np.int32), weights, size)

    def score(self, keys: IntArray) -> FloatArray:
        """BM25 of every unit, (size,), for a query's distinct terms, added in their order there."""
        scores = np.zeros(self.size, np.float32)
        _, firsts = np.unique(keys, return_index=True)
        for at in self._term_positions(keys[np.sort(firsts)]):
            row = slice(self.bounds[at], self.bounds[at + 1])
            scores[self.units[row]] += self.weights[row]
        return scores

    def _term_positions(self, terms: IntArray) -> IntArray:
        at = np.searchsorted(self.keys, terms)
        inside = at < len(self.keys)
        at, terms = at[inside], terms[inside]
        positions: IntArray = at[self.keys[at] == terms]
        return positions

    def save(self, folder: Path, name: str) -> None:
        """Write the arrays as `name`.*.npy."""
        for part in ("keys", "bounds", "units", "weights"):
            np.save(folder / f"{name}.{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, folder: Path, name: str, size: int) -> Bm25Index:
        """Map arrays that `save` wrote into memory; pages are read when they are needed."""
        keys, bounds, units, weights = (
            np.asarray(np.load(folder / f"{name}.{part}.npy", mmap_mode="r", allow_pickle=False))
            for part in ("keys", "bounds", "units", "weights")
        )
        return cls(keys, bounds, units, weights, size)


def idf(frequency: IntArray, size: int) -> FloatArray:
    """How rare terms are (terms,) that stand in so many of `size` units."""
    containing = frequency.astype(np.float64)
    return np.log1p((size - containing + 0.5) / (containing + 0.5)).astype(np.float32)


def mean_length(lengths: FloatArray) -> float:
    """The mean of whole numbers (units,), the same in whatever order they are added."""
    return mean_length_of(int(lengths.sum(dtype=np.float64)), len(lengths))


def mean_length_of(total: int, units: int) -> float:
    """The same from their sum and number."""
    return max(total / units if units else 1.0, 1e-9)


def norms(lengths: FloatArray, mean: float, *, k1: float = K1, b: float = B) -> FloatArray:
    """(units,) what a count is measured against in units of these lengths."""
    return np.asarray(k1 * (1 - b + b * lengths / mean), np.float32)


def term_weights(
    rarity: FloatArray, counts: FloatArray, norm: FloatArray, *, k1: float = K1
) -> FloatArray:
    """The weight of each posting (n,): rarity, occurrences, and what these are measured against."""
    return np.asarray(rarity * counts * (k1 + 1) / (counts + norm), np.float32)
