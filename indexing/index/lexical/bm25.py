"""BM25: which units (passages, or documents) hold a term, and how much that says.

Weights of a query's terms are computed from counts (`postings`) when it is asked, as they rest on
what all segments hold; scoring is then adding up rows. The formula is Lucene's (Kamphuis et al.,
"Which BM25 do you mean?", 2020): idf = ln(1 + (N - df + 0.5) / (df + 0.5)), weight = idf * tf /
(tf + k1 * (1 - b + b * length / mean length)), times k1 + 1 as in Robertson's original, which moves
no rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.index.mapped import ask_ahead
from indexing.index.padding import Padding

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

K1 = 1.5
B = 0.75
SPARSE = 1 / 32  # postings of a query for each unit, below which they are sorted, not spread out


@dataclass(frozen=True)
class Bm25Index:
    """An inverted index whose values are BM25 weights."""

    keys: IntArray  # (terms,) int64 term keys, ascending
    bounds: IntArray  # (terms + 1,) int64; the postings of term i are bounds[i]:bounds[i + 1]
    units: npt.NDArray[np.int32]  # (postings,) int32 unit numbers, ascending within a term
    weights: FloatArray  # (postings,) float32
    size: int  # number of units

    def score(self, keys: IntArray) -> FloatArray:
        """BM25 of every unit, (size,), for a query's distinct terms, added in their order there."""
        scores = np.zeros(self.size, np.float32)
        for row in self._rows(keys):
            np.add.at(scores, self.units[row], self.weights[row])
        return scores

    def add_padded(self, keys: IntArray, padding: Padding, scores: FloatArray) -> None:
        """Add the same to a row with empty places, (padding.size,)."""
        for row in self._rows(keys):
            np.add.at(scores, padding.places.take(self.units[row]), self.weights[row])

    def matches(self, keys: IntArray) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Units (m,) that hold one of a query's distinct terms, ascending, and their scores."""
        rows = self._rows(keys)
        if sum(row.stop - row.start for row in rows) > self.size * SPARSE:
            scores = self.score(keys)
            found = np.flatnonzero(scores).astype(np.int32)
            return found, scores[found]
        units = np.concatenate([self.units[:0], *(self.units[row] for row in rows)])
        weights = np.concatenate([self.weights[:0], *(self.weights[row] for row in rows)])
        order = np.argsort(units, kind="stable")
        units = units[order]
        firsts = np.flatnonzero(np.diff(units, prepend=-1))
        if not len(firsts):
            return units, weights
        return units[firsts], np.add.reduceat(weights[order], firsts)

    def _rows(self, keys: IntArray) -> list[slice]:
        """The postings of each distinct term, in the order of the query."""
        found = self._term_positions(np.array([*dict.fromkeys(keys.tolist())], np.int64))
        spans = [(int(self.bounds[at]), int(self.bounds[at + 1])) for at in found]
        ask_ahead(self.units, spans)
        ask_ahead(self.weights, spans)
        return [slice(first, last) for first, last in spans]

    def _term_positions(self, terms: IntArray) -> IntArray:
        at = np.searchsorted(self.keys, terms)
        inside = at < len(self.keys)
        at, terms = at[inside], terms[inside]
        positions: IntArray = at[self.keys[at] == terms]
        return positions

    def arrays(self, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """What `from_arrays` takes, by name."""
        for part in ("keys", "bounds", "units", "weights"):
            yield f"{name}.{part}", getattr(self, part)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str, size: int) -> Bm25Index:
        """From what `arrays` gave."""
        keys, bounds, units, weights = (
            arrays[f"{name}.{part}"] for part in ("keys", "bounds", "units", "weights")
        )
        return cls(keys, bounds, units, weights, size)


def idf(frequency: IntArray, size: int) -> FloatArray:
    """How rare terms are (terms,) that stand in so many of `size` units."""
    containing = frequency.astype(np.float64)
    return np.log1p((size - containing + 0.5) / (containing + 0.5)).astype(np.float32)


def mean_length_of(total: int, units: int) -> float:
    """The mean length of so many units, from the sum of all: whole numbers in any order."""
    return max(total / units if units else 1.0, 1e-9)


def norms(lengths: FloatArray, mean: float, *, k1: float = K1, b: float = B) -> FloatArray:
    """(units,) what a count is measured against in units of these lengths."""
    return np.asarray(k1 * (1 - b + b * lengths / mean), np.float32)


def term_weights(
    rarity: FloatArray, counts: FloatArray, norm: FloatArray, *, k1: float = K1
) -> FloatArray:
    """The weight of each posting (n,): rarity, occurrences, and what these are measured against."""
    return np.asarray(rarity * counts * (k1 + 1) / (counts + norm), np.float32)
