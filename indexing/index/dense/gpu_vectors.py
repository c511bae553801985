"""Vectors on a GPU: a query in, its inner products with all of them out.

FAISS gives the nearest 2,048 of a GPU's index at most; scores of a shard rest on how every passage
compares. So torch computes the products. They are those of the CPU but for the last bits, as a GPU
adds up in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.errors import CorpusError

FloatArray = npt.NDArray[np.float32]

BLOCK = 65536  # vectors that are sent at a time
REMEDY = (
    "see what torch.cuda.is_available() says there; or divide again without them: "
    "rag-app cluster init without --ray-gpus"
)


class GpuVectors:
    """Vectors (n, d) float32, copied into the memory of a GPU.

    Raises:
        CorpusError: There is no such device, or it has no room for them.
    """

    def __init__(self, vectors: FloatArray, *, device: str = "cuda") -> None:
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            raise CorpusError(f"vectors are to be compared on a GPU, and there is none; {REMEDY}")
        try:
            self._vectors: Any = torch.empty(vectors.shape, dtype=torch.float32, device=device)
            for start in range(0, len(vectors), BLOCK):
                part = np.ascontiguousarray(vectors[start : start + BLOCK], np.float32)
                self._vectors[start : start + BLOCK] = torch.from_numpy(part)
        except torch.cuda.OutOfMemoryError as error:
            raise CorpusError(
                f"the GPU has no room for {len(vectors):,} vectors; divide among more shards, or: "
                "rag-app cluster init without --ray-gpus"
            ) from error

    def products(self, queries: FloatArray) -> FloatArray:
        """(q, n) all inner products with queries (q, d)."""
        import torch

        rows = torch.from_numpy(np.ascontiguousarray(queries, np.float32))
        found = rows.to(self._vectors.device) @ self._vectors.T
        return np.asarray(found.cpu().numpy(), np.float32)
