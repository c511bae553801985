"""The best of many scores, without putting the others into order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


def best(scores: FloatArray, most: int) -> npt.NDArray[np.int64]:
    """Positions of the best finite scores, so many at most, best first; ties broken by position."""
    positions = np.flatnonzero(np.isfinite(scores))
    if 0 < most < len(positions):
        found = scores[positions]
        positions = positions[found >= np.partition(found, -most)[-most]]
    return positions[np.argsort(-scores[positions], kind="stable")][:most]
