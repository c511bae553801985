"""Similarity of a query's sentences with passages and documents, through FAISS."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexing.index.faiss_index import GPU_DEPTH, FaissIndex

FloatArray = npt.NDArray[np.float32]

# Nearest passages looked up for each sentence of a query.
DEPTH = 16384
LARGE_DEPTH = GPU_DEPTH  # the same in an index that is searched by codes or on a GPU


def similarities(
    index: FaissIndex, queries: FloatArray, *, allowed: npt.NDArray[np.bool_] | None = None
) -> FloatArray:
    """Cosine of queries (q, d) with everything in an index, as (q, n).

    Exact for the DEPTH (or LARGE_DEPTH) nearest of each query; the rest get the last of these
    scores, an upper bound, and so does what is not allowed: callers mask it.
    """
    depth = LARGE_DEPTH if index.is_approximate else DEPTH
    scores, positions = index.search(queries, depth, allowed=allowed)
    if not scores.shape[1]:
        return np.zeros((len(queries), len(index)), np.float32)
    filled = np.repeat(scores[:, -1:], len(index), axis=1)
    np.put_along_axis(filled, positions, scores, axis=1)
    return filled
