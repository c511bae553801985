"""Similarity of a query's sentences with passages and documents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexing.index.dense.faiss_index import GPU_DEPTH
from indexing.index.dense.vectors import Vectors

FloatArray = npt.NDArray[np.float32]

# Nearest ones looked up for each sentence of a query in an index of codes, or on a GPU.
LARGE_DEPTH = GPU_DEPTH


def similarities(index: Vectors, queries: FloatArray) -> FloatArray:
    """Cosine of queries (q, d) with everything in an index, as (q, n).

    Exact, but for an index of codes (`Vectors.is_approximate`): there, for the LARGE_DEPTH
    nearest of each query; the rest get the last of these scores, an upper bound.
    """
    if not index.is_approximate:
        return index.products(queries)
    scores, positions = index.search(queries, LARGE_DEPTH)
    filled = np.repeat(scores[:, -1:], len(index), axis=1)
    np.put_along_axis(filled, positions, scores, axis=1)
    return filled
