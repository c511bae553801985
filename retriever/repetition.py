"""The first passage of another document tells more than one passage more of the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

RANKED = 4096  # passages whose places are counted; those below lose as much as the last of these


def without_repetition(
    scores: FloatArray, owner: npt.NDArray[np.int64], *, weight: float
) -> FloatArray:
    """Passage scores, less `weight` * ln(n) for the n-th best passage of a document.

    The order within a document stays as it is.

    Args:
        scores: (passages,), -inf for passages that do not count.
        owner: (passages,) document of each.
        weight: In units of the scores.
    """
    if not weight or not len(scores):
        return scores
    best = np.argsort(-scores, kind="stable")[:RANKED]
    order = best[np.lexsort((-scores[best], owner[best]))]
    new = np.ones(len(order), np.bool_)
    new[1:] = owner[order][1:] != owner[order][:-1]
    firsts = np.flatnonzero(new)
    place = np.arange(len(order)) - np.repeat(firsts, np.diff(np.append(firsts, len(order))))
    lost = np.full(len(scores), np.log1p(place.max()))
    lost[order] = np.log1p(place)
    return np.asarray(scores - weight * lost, np.float32)
