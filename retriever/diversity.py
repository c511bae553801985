"""Diversity: the n-th passage of one document tells less than the first of another.

As maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), with the document for
similarity: what a passage loses grows with the passages of its document that rank above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retriever.order import best
from retriever.rounds.rounds import Share

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

RANKED = 4096  # passages whose ranks are counted; those below lose as much as the last of these


@dataclass(frozen=True, slots=True)
class RankedPassages(Share["Ranks"]):
    """The best passages of one part of a corpus, RANKED at most, best first."""

    scores: FloatArray  # (p,) finite
    documents: IntArray  # (p,) row of each one's document, the same in every part
    positions: IntArray  # (p,) of each in its part, where those of a document stand in order

    @classmethod
    def of(cls, scores: FloatArray, documents: IntArray) -> RankedPassages:
        """The best of (passages,) scores; ties broken by position."""
        ranked = best(scores, RANKED)
        return cls(scores[ranked], documents[ranked], ranked)

    def merge(self, others: Sequence[RankedPassages]) -> Ranks:
        """The rank of each of the RANKED best of all parts."""
        every = (self, *others)
        scores, documents, positions = (
            np.concatenate([getattr(one, name) for one in every])
            for name in ("scores", "documents", "positions")
        )
        best = np.lexsort((positions, documents, -scores))[:RANKED]
        order = best[np.lexsort((positions[best], -scores[best], documents[best]))]
        rank = _places(documents[order])
        return Ranks(documents[order], positions[order], rank)


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of the best passages of a corpus within their documents."""

    documents: IntArray  # (p,) row of each one's document, ascending
    positions: IntArray  # (p,) of each in its part
    ranks: IntArray  # (p,) from 0

    def penalty(self, documents: IntArray, *, weight: float, deviation: np.float32) -> FloatArray:
        """What is added to the scores (passages,) of a part: -`weight` * ln(n), in deviations.

        For the n-th best of its document, whose rows ascend; order within one stays as it is.
        """
        loss = np.full(len(documents), np.log1p(self.ranks.max(initial=0)))
        at = np.minimum(np.searchsorted(documents, self.documents), len(documents) - 1)
        own = documents[at] == self.documents
        loss[self.positions[own]] = np.log1p(self.ranks[own])
        return np.asarray(-weight * deviation * loss, np.float32)


def _places(documents: IntArray) -> IntArray:
    """(p,) how many of the same document stand before each, those of one side by side."""
    new = np.ones(len(documents), np.bool_)
    new[1:] = documents[1:] != documents[:-1]
    firsts = np.flatnonzero(new)
    runs = np.diff(np.append(firsts, len(documents)))
    return np.asarray(np.arange(len(documents)) - np.repeat(firsts, runs), np.int64)
