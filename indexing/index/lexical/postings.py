"""Postings: which units (passages, or documents) hold a term, and how often.

A segment keeps counts, not weights: how much a term says depends on what all segments hold, and is
known when a question is asked. It is weighed then, by the formula of `bm25`, to the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.index.mapped import ask_ahead

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Postings:
    """An inverted index."""

    keys: IntArray  # (terms,) int64 term keys, ascending
    bounds: IntArray  # (terms + 1,) int64; the postings of term i are bounds[i]:bounds[i + 1]
    units: npt.NDArray[np.int32]  # (postings,) int32 unit numbers, ascending within a term
    counts: FloatArray  # (postings,) float32, how often the term stands in the unit
    lengths: FloatArray  # (units,) float32 terms in each unit

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.lengths)

    @cached_property
    def total_length(self) -> int:
        """Terms in all units."""
        return int(self.lengths.sum(dtype=np.float64))

    def spans(self, terms: IntArray) -> IntArray:
        """(n, 2) where the postings of each of some terms (n,) begin and end."""
        if not len(self.keys):
            return np.zeros((len(terms), 2), np.int64)
        at = np.minimum(np.searchsorted(self.keys, terms), len(self.keys) - 1)
        spans = np.empty((len(terms), 2), np.int64)
        spans[:, 0], spans[:, 1] = self.bounds[at], self.bounds[at + 1]
        spans[self.keys[at] != terms] = 0
        return spans

    def of(self, terms: IntArray) -> Iterator[tuple[npt.NDArray[np.int32], FloatArray]]:
        """The units and counts of each of some terms (n,); none for a term that is not there."""
        spans = self.spans(terms).tolist()
        ask_ahead(self.units, spans)
        ask_ahead(self.counts, spans)
        for first, last in spans:
            yield self.units[first:last], self.counts[first:last]

    def arrays(self, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """What `from_arrays` takes, by name."""
        for part in ("keys", "bounds", "units", "counts", "lengths"):
            yield f"{name}.{part}", getattr(self, part)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Postings:
        """From what `arrays` gave."""
        parts = ("keys", "bounds", "units", "counts", "lengths")
        return cls(*(arrays[f"{name}.{part}"] for part in parts))
