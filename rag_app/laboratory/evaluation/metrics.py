"""Metrics of a ranking (nDCG, accuracy) and of a context (coverage of gold spans); all 0 to 1.

Ties count against the retriever: a document of equal score ranks before the relevant one. So a
retriever that gives every document the same score gets nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Offsets = tuple[int, int]
Place = tuple[int, int, int]  # document, first character, one past the last


def rank(scores: npt.NDArray[np.floating], gold: int) -> int:
    """The rank of document `gold`, from 1, among documents (n,); every tie ranks before it."""
    return int(np.count_nonzero(scores >= scores[gold]))


def ndcg(ranks: Sequence[int], *, k: int = 10) -> float:
    """Mean normalised discounted cumulative gain at k, one relevant document a query.

    Järvelin and Kekäläinen, TOIS 2002. With one relevant document the ideal gain is 1, so a query
    gives 1 / log2(rank + 1), or nothing beyond rank k.
    """
    gains = [1 / math.log2(place + 1) if place <= k else 0.0 for place in ranks]
    return sum(gains) / len(gains) if gains else 0.0


def accuracy(ranks: Sequence[int]) -> float:
    """The share of queries whose relevant document is ranked first, without a tie."""
    return sum(place == 1 for place in ranks) / len(ranks) if ranks else 0.0


def within_budget(words: npt.ArrayLike, budget: int) -> int:
    """How many passages, in order, fit a budget of words; the first that exceeds it ends them."""
    return int(np.searchsorted(np.cumsum(words), budget, side="right"))


def coverage(gold: Sequence[Offsets], document: int, context: Sequence[Place]) -> float:
    """The share of a document's gold spans that share a character with a passage of the context.

    Args:
        gold: (start, end) of each gold utterance, at least one.
        document: Number of that document.
        context: The retrieved passages.
    """
    own = [(start, end) for owner, start, end in context if owner == document]
    hits = sum(any(start < b and a < end for a, b in own) for start, end in gold)
    return hits / len(gold)
