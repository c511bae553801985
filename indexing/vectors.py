"""FAISS: nearest vectors by inner product. Derived from the store and rebuilt at will.

The master index lives on the processor. Where `faiss-gpu` and a GPU are found, searches run on a
clone of it there; what is written to disk is always the master.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.errors import MissingDependency

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

GPU_DEPTH = 2048  # the most neighbours that FAISS returns from a GPU


@dataclass(frozen=True)
class VectorIndex:
    """Vectors by position, searched by inner product (cosine, as all of ours have unit length)."""

    master: Any

    @classmethod
    def build(cls, vectors: FloatArray) -> VectorIndex:
        """An exact index of (n, d) float32 vectors."""
        faiss = require_faiss()
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(np.ascontiguousarray(vectors, np.float32))
        return cls(index)

    @classmethod
    def load(cls, path: Path) -> VectorIndex:
        """Read an index that `save` wrote.

        Raises:
            RuntimeError: The file is not a sound FAISS index.
        """
        return cls(require_faiss().read_index(str(path)))

    def save(self, path: Path) -> None:
        """Write the master index."""
        require_faiss().write_index(self.master, str(path))

    def __len__(self) -> int:
        return int(self.master.ntotal)

    def search(
        self, queries: FloatArray, k: int, *, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[FloatArray, IntArray]:
        """The k nearest of each query.

        Args:
            queries: (q, d) float32.
            k: How many; fewer come back when fewer are there.
            allowed: (n,) which positions may be returned; None for all.

        Returns:
            Scores (q, k') and positions (q, k'), best first, k' = min(k, those allowed).
        """
        k = min(k, len(self) if allowed is None else int(allowed.sum()))
        if k == 0 or not len(queries):
            return np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
        rows = np.ascontiguousarray(queries, np.float32)
        if allowed is None:
            engine = self._gpu if self._gpu is not None and k <= GPU_DEPTH else self.master
            return engine.search(rows, k)  # type: ignore[no-any-return]
        faiss = require_faiss()
        selector = faiss.IDSelectorBatch(np.flatnonzero(allowed))
        parameters = faiss.SearchParameters(sel=selector)
        return self.master.search(rows, k, params=parameters)  # type: ignore[no-any-return]

    @cached_property
    def _gpu(self) -> Any:  # noqa: ANN401 - FAISS has no types
        faiss = require_faiss()
        if not hasattr(faiss, "StandardGpuResources") or faiss.get_num_gpus() == 0:
            return None
        return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, self.master)


def require_faiss() -> Any:  # noqa: ANN401 - FAISS has no types
    """The faiss module.

    Raises:
        MissingDependency: It is not installed.
    """
    try:
        import faiss
    except ImportError as error:
        raise MissingDependency(
            "FAISS",
            "Searching vectors",
            'pip install "rag-app[cpu]" (or "rag-app[gpu]" with an NVIDIA GPU)',
        ) from error
    return faiss
