"""The first passage of another document tells more than one passage more of the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

RANKED = 4096  # passages whose places are counted; those below lose as much as the last of these


def repetition(
    scores: FloatArray,
    owner: npt.NDArray[np.int64],
    *,
    weight: float,
    deviation: np.float32 | None = None,
) -> FloatArray:
    """What each passage loses (passages,): `weight` * ln(n) for the n-th best of its document.

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
    place = np.arange(len(order)) - np.repeat(firsts, np.diff(np.append(firsts, len(order))))
    lost = np.full(len(scores), np.log1p(place.max()))
    lost[order] = np.log1p(place)
    unit = scores[finite].std() if deviation is None else deviation
    return np.asarray(-weight * unit * lost, np.float32)
