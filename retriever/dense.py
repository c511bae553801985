"""Similarity of a query's sentences with passages and documents, through FAISS."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexing.vectors import VectorIndex

FloatArray = npt.NDArray[np.float32]

# Passages looked up for each sentence of a query. Those beyond count as similar as the last one.
DEPTH = 16384


def similarities(
    index: VectorIndex, queries: FloatArray, *, allowed: npt.NDArray[np.bool_] | None = None
) -> FloatArray:
    """Cosine of queries (q, d) with everything in an index, as (q, n).

    Exact for the DEPTH nearest of each query; the rest get the last score found, an upper bound.
    What is not allowed gets no more than that either: callers never look at it.
    """
    scores, positions = index.search(queries, DEPTH, allowed=allowed)
    if not scores.shape[1]:
        return np.zeros((len(queries), len(index)), np.float32)
    filled = np.repeat(scores[:, -1:], len(index), axis=1)
    np.put_along_axis(filled, positions, scores, axis=1)
    return filled
