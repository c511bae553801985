"""FAISS: nearest vectors by inner product. Derived from the store and rebuilt at will.

Below `FLAT_BELOW` vectors the index is flat: every product is computed, on the CPU. From
there on, short codes of all vectors are scanned (product quantisation with 4-bit codes that are
looked up in registers: André et al., VLDB 2015), four times as many as asked for are taken, and
their products are computed from the vectors themselves, which are memory-mapped. So scores are
always exact, and what can be missed is a neighbour whose code is far off. The recall is in
docs/notebook/benchmarks.md, beside that of HNSW and of inverted lists, which lose more and take
longer, as questions lie far from passages. Where `faiss-gpu` and a GPU are found, a large index is
searched there, flat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.errors import MissingDependency
from indexing.index.dense.gpu_vectors import GpuVectors
from indexing.index.mapped import ask_ahead
from indexing.models.runtime import keep_memory

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

FLAT_BELOW = (
    65536  # vectors that are compared one by one; more would be felt (docs/notebook/benchmarks.md)
)
GPU_DEPTH = 2048  # the most neighbours that FAISS returns from a GPU
OVERFETCH = 4  # codes looked at for each neighbour that is wanted,
MIN_CANDIDATES = 1024  # and at least so many
TRAINING_VECTORS = 32768  # vectors that codes are fitted to
BLOCK = 16384  # vectors at a time
TOGETHER = 256  # vectors that stay in a core's cache until all queries are compared


@dataclass(frozen=True)
class FaissIndex:
    """Vectors by position, searched by inner product (cosine, as all of ours have unit length)."""

    index: Any  # FAISS's index of codes; None where all vectors are compared
    vectors: FloatArray  # (n, d) float32
    gpu: GpuVectors | None = None  # the same vectors on a GPU, where `products` are computed then

    @classmethod
    def build(
        cls,
        vectors: FloatArray,  # as above
        *,
        flat_below: int | None = None,  # number below which all are compared
        step: Callable[[], None] = lambda: None,  # called before each block of codes
    ) -> FaissIndex:
        """Index (n, d) float32 vectors, which are kept and must not change."""
        flat_below = FLAT_BELOW if flat_below is None else flat_below
        count, dimension = vectors.shape
        if count < max(flat_below, 16):  # a code has 16 values to be fitted
            return cls(None, np.ascontiguousarray(vectors, np.float32))
        faiss = require_faiss()
        pieces = dimension // 2 if dimension % 2 == 0 else dimension
        index = faiss.IndexPQFastScan(dimension, pieces, 4, faiss.METRIC_INNER_PRODUCT)
        index.pq.cp.min_points_per_centroid = 1  # no warning on standard output
        _train(index, vectors[:: max(1, count // TRAINING_VECTORS)], step)
        for start in range(0, count, BLOCK):
            step()
            index.add(np.ascontiguousarray(vectors[start : start + BLOCK]))
        return cls(index, vectors)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> FaissIndex:
        """From what `arrays` gave; the vectors stay mapped.

        Raises:
            RuntimeError: The codes are not a sound FAISS index.
        """
        vectors = arrays[f"{name}.vectors"]
        if f"{name}.codes" not in arrays:
            ask_ahead(vectors, [(0, len(vectors))])  # every search compares them all
            return cls(None, vectors)
        keep_memory()  # each search frees and asks for the same megabytes, an array a feature
        return cls(require_faiss().deserialize_index(np.array(arrays[f"{name}.codes"])), vectors)

    def arrays(self, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """What `from_arrays` takes, by name."""
        yield f"{name}.vectors", self.vectors
        if self.index is not None:
            yield f"{name}.codes", require_faiss().serialize_index(self.index)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def is_approximate(self) -> bool:
        """Whether a search can miss a neighbour, and is worth limiting in depth."""
        return self.index is not None

    @property
    def on_gpu(self) -> bool:
        """Whether a large index is searched on a GPU, up to GPU_DEPTH deep."""
        return self.is_approximate and self._gpu is not None

    def search(
        self, queries: FloatArray, k: int, *, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[FloatArray, IntArray]:
        """The k nearest of each query, with exact scores.

        Args:
            queries: (q, d) float32.
            k: How many; fewer come back when fewer are there.
            allowed: (n,) which positions may be returned; None for all.

        Returns:
            Scores (q, k') and positions (q, k'), best first, k' = min(k, those allowed). A large
            index may find fewer where some are not allowed: -inf and -1 stand for those missing.
        """
        count = len(self) if allowed is None else int(allowed.sum())
        k = min(k, count)
        if k == 0 or not len(queries):
            return np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
        rows = np.ascontiguousarray(queries, np.float32)
        if self.index is None and allowed is None:
            metric = require_faiss().METRIC_INNER_PRODUCT
            return require_faiss().knn(rows, self.vectors, k, metric)  # type: ignore[no-any-return]
        if allowed is not None and (self.index is None or count < FLAT_BELOW):
            return self._search_exact(rows, k, np.flatnonzero(allowed))
        if allowed is None and k <= GPU_DEPTH and self._gpu is not None:
            return self._gpu.search(rows, k)  # type: ignore[no-any-return]
        return self._search_codes(rows, k, allowed)

    def estimate(
        self, queries: FloatArray, k: int, *, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[FloatArray, IntArray]:
        """As `search`, but in an index of codes by these alone: no vector is read.

        What the code of a vector gives is its score but for an error with a mean of 0.
        """
        count = len(self) if allowed is None else int(allowed.sum())
        few = allowed is not None and count < FLAT_BELOW
        if self.index is None or few or not count or self.on_gpu:
            return self.search(queries, k, allowed=allowed)
        rows = np.ascontiguousarray(queries, np.float32)
        found = self._codes(rows, min(k, count), allowed)
        scores = np.full((len(rows), min(k, count)), -np.inf, np.float32)
        positions = np.full(scores.shape, -1, np.int64)
        for row, (some, places) in enumerate(found):
            scores[row, : len(some)], positions[row, : len(some)] = some, places
        return scores, positions

    def products(self, queries: FloatArray) -> FloatArray:
        """(q, n) all inner products, each the same to the last bit whatever else is compared.

        So documents that are spread over several indexes are scored as in one. What einsum adds up
        rests on the two vectors alone, below 8192 dimensions; BLAS takes turns by position. A GPU
        promises nothing of the kind: there the last bits may differ.
        """
        if not len(self):
            return np.zeros((len(queries), 0), np.float32)
        if self.gpu is not None:
            return self.gpu.products(queries)
        rows = np.ascontiguousarray(queries, np.float32)
        return np.asarray(np.einsum("qd,nd->qn", rows, self.vectors), np.float32)

    def on(self, device: str) -> FaissIndex:
        """The same index, whose `products` are computed on a device, as torch calls it.

        Raises:
            CorpusError: There is no such device, or it has no room.
        """
        return replace(self, gpu=GpuVectors(self.vectors, device=device))

    def inner_products(self, queries: FloatArray, positions: IntArray) -> FloatArray:
        """(q, p) scores of positions (p,), of which those of a document follow on each other."""
        if len(positions):
            breaks = np.flatnonzero(np.diff(positions) != 1)
            firsts, lasts = positions[[0, *(breaks + 1)]], positions[[*breaks, -1]] + 1
            ask_ahead(self.vectors, list(zip(firsts.tolist(), lasts.tolist(), strict=True)))
        return inner_products(queries, self.vectors, positions)

    def at(self, positions: IntArray) -> FloatArray:
        """The vectors (p, d) at positions (p,)."""
        return np.asarray(self.vectors[positions], np.float32)

    def _search_codes(
        self, queries: FloatArray, k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[FloatArray, IntArray]:
        """By codes first, then by the vectors of those that they find."""
        scores = np.full((len(queries), k), -np.inf, np.float32)
        positions = np.full((len(queries), k), -1, np.int64)
        found = self._codes(queries, max(OVERFETCH * k, MIN_CANDIDATES), allowed)
        for row, (query, (_, good)) in enumerate(zip(queries, found, strict=True)):
            one, two = self._search_exact(query[None], min(k, len(good)), np.sort(good))
            scores[row, : one.shape[1]], positions[row, : two.shape[1]] = one, two
        return scores, positions

    def _codes(
        self, queries: FloatArray, k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> Iterator[tuple[FloatArray, IntArray]]:
        """Scores and positions of the k nearest of each query by their codes, or fewer.

        Where few are allowed, so many more are looked at that enough of them are.
        """
        count = len(self) if allowed is None else int(allowed.sum())
        deep = min(len(self), k * len(self) // count)
        for scores, positions in zip(*self.index.search(queries, deep), strict=True):
            good = slice(None) if allowed is None else allowed[positions]
            yield scores[good][:k], positions[good][:k]

    def _search_exact(
        self, queries: FloatArray, k: int, places: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """The k nearest among some positions, by all their products."""
        if len(places) and places[-1] - places[0] < 2 * len(places):  # as of a filter's documents
            ask_ahead(self.vectors, [(int(places[0]), int(places[-1]) + 1)])
        scores = inner_products(queries, self.vectors, places)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, order, axis=1), places[order]

    @cached_property
    def _gpu(self) -> Any:  # noqa: ANN401 - FAISS has no types
        """All vectors on the first GPU; None where there is none, or it has no room for them."""
        faiss = require_faiss()
        if not hasattr(faiss, "StandardGpuResources") or faiss.get_num_gpus() == 0:
            return None
        try:
            index = faiss.GpuIndexFlatIP(faiss.StandardGpuResources(), self.vectors.shape[1])
            for start in range(0, len(self.vectors), BLOCK):
                index.add(np.ascontiguousarray(self.vectors[start : start + BLOCK]))
        except RuntimeError:  # out of memory there; the codes are here
            return None
        return index


def _train(index: Any, vectors: FloatArray, step: Callable[[], None]) -> None:  # noqa: ANN401
    """As `index.train`, to the same bits, but a piece of the vectors at a time."""
    faiss, codes = require_faiss(), index.pq
    for piece in range(codes.M):
        step()
        own = vectors[:, piece * codes.dsub : (piece + 1) * codes.dsub]
        clusters = faiss.Clustering(codes.dsub, codes.ksub, codes.cp)
        clusters.train(np.ascontiguousarray(own), faiss.IndexFlatL2(codes.dsub))
        codes.set_params(clusters.centroids.data(), piece)
    index.is_trained = True


def inner_products(queries: FloatArray, vectors: FloatArray, positions: IntArray) -> FloatArray:
    """(q, p) of queries (q, d) with those of the vectors (n, d) at some positions (p,).

    One call of FAISS, which leaves Python to other threads. All queries are compared with some
    vectors before the next ones are read from memory.
    """
    count = len(positions)
    blocks = max(1, -(-count // TOGETHER))
    places = np.zeros((blocks, TOGETHER), np.int64)
    places.ravel()[:count] = positions
    scores = np.empty((blocks, len(queries), TOGETHER), np.float32)
    if count:
        faiss = require_faiss()
        every = np.ascontiguousarray(np.tile(queries, (blocks, 1)), np.float32)
        asked = np.repeat(places, len(queries), axis=0)
        known = np.ascontiguousarray(vectors, np.float32)
        arrays = map(faiss.swig_ptr, (scores, every, known, asked))
        faiss.fvec_inner_products_by_idx(*arrays, known.shape[1], len(every), TOGETHER)
    return scores.transpose(1, 0, 2).reshape(len(queries), -1)[:, :count]


def search_in_one_thread() -> None:
    """Lets FAISS use one core for what this thread asks; others go on as they are."""
    require_faiss().omp_set_num_threads(1)


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
