"""Diversity: the n-th passage of one document tells less than the first of another.

As maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), with the document for
similarity: what a passage loses grows with the passages of its document that rank above it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

RANKED = 4096  # passages whose ranks are counted; those below lose as much as the last of these


def repetition_penalty(
    scores: FloatArray,
    owner: npt.NDArray[np.int64],
    *,
    weight: float,
    deviation: np.float32 | None = None,
) -> FloatArray:
    """(passages,) what is added to each score: -`weight` * ln(n) for the n-th best of its document.

    The order within a document stays as it is.

    Args:
        scores: (passages,), -inf for passages that do not count.
        owner: (passages,) document of each.
        weight: In standard deviations.
        deviation: Of the scores; None takes that of the finite ones.
    """
    finite = np.isfinite(scores)
    if not weight or not finite.any():
        return np.zeros(len(scores), np.float32)
    best = np.argsort(-scores, kind="stable")[:RANKED]
    order = best[np.lexsort((-scores[best], owner[best]))]
    new = np.ones(len(order), np.bool_)
    new[1:] = owner[order][1:] != owner[order][:-1]
    firsts = np.flatnonzero(new)
    rank = np.arange(len(order)) - np.repeat(firsts, np.diff(np.append(firsts, len(order))))
    loss = np.full(len(scores), np.log1p(rank.max()))
    loss[order] = np.log1p(rank)
    unit = scores[finite].std() if deviation is None else deviation
    return np.asarray(-weight * unit * loss, np.float32)
