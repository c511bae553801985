"""Windows of documents, kept: of a document that grows at its end, only the last ones are run."""

from __future__ import annotations

import numpy as np
from cachetools import LRUCache

from indexing.encoder.encoder import FloatArray, IntArray, Rows, Run

MOST = 512  # windows; 200 MB of 256 tokens with 384 dimensions, a day of talk; an hour takes 35


class KeptWindows:
    """Windows that are run once; the least recently used are dropped.

    What a window gives may differ in its last bit from one run in other company, as a product of
    matrices of another number of rows may round in another way.
    """

    def __init__(self, *, most: int = MOST) -> None:
        self._kept: LRUCache[bytes, tuple[FloatArray, FloatArray]] = LRUCache(most)

    def __call__(self, run: Run, ids: IntArray, skip: int) -> Rows:
        """What `run` gives of these."""
        keys = [row.tobytes() for row in ids]
        found = {key: self._kept[key] for key in keys if key in self._kept}
        new = [number for number, key in enumerate(keys) if key not in found]
        if new:
            for number, pooled, states in zip(new, *run(ids[new], skip), strict=True):
                found[keys[number]] = pooled.copy(), states.copy()
        self._kept.update(found)
        pooled_rows, state_rows = zip(*(found[key] for key in keys), strict=True)
        return np.stack(pooled_rows), np.stack(state_rows)
