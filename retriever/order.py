"""The best of many scores, without putting the others into order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


def best(scores: FloatArray, most: int) -> npt.NDArray[np.int64]:
    """Positions of the best finite scores, so many at most, best first; ties broken by position."""
    if 0 < most < len(scores):
        least = np.partition(scores, -most)[-most]
        positions = np.flatnonzero(scores >= least)
    else:
        positions = np.arange(len(scores))
    order = positions[np.argsort(-scores[positions], kind="stable")][:most]
    return order[np.isfinite(scores[order])]
