"""Indexes for approximate nearest neighbours side by side: build time, latency and recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.latency import Latency, latency, timed
from indexing.index.dense.faiss_index import FaissIndex, require_faiss
from retriever.features import LARGE_DEPTH

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Search = Callable[[FloatArray], IntArray]

RECALL_AT = (10, 100, 1000, LARGE_DEPTH)
MAX_COMPARISONS = 30_000_000  # of a query and a vector in the flat index; fewer queries beyond
HNSW_LINKS = 32  # M: links of a vector
HNSW_CONSTRUCTION = 80  # efConstruction: width of the search while it is built


@dataclass(frozen=True, slots=True)
class AnnReport:
    """An index of vectors, searched for the LARGE_DEPTH nearest of a query's three texts.

    Attributes:
        index: Its name and setting.
        build: Seconds.
        latency: Of a query.
        recall: By k, the share of the k nearest neighbours that it returns.
    """

    index: str
    build: float
    latency: Latency
    recall: dict[int, float]


@dataclass(frozen=True, slots=True)
class _Index:
    """An index, and the neighbours that it has returned."""

    name: str
    build: float
    search: Search
    neighbours: list[IntArray] = field(default_factory=list)

    def __call__(self, queries: FloatArray) -> None:
        self.neighbours.append(self.search(queries))


def compare_indexes(
    vectors: FloatArray, queries: Sequence[FloatArray], *, baselines: bool
) -> Iterator[AnnReport]:
    """Measure the flat index, codes, and the baselines: IVF and HNSW.

    Args:
        vectors: (n, d).
        queries: (texts, d) of each query.
        baselines: Whether to build those too: HNSW of a million vectors takes half an hour.
    """
    sample = queries[: max(10, MAX_COMPARISONS // len(vectors))]
    depth = min(LARGE_DEPTH, len(vectors))
    flat, *others = _indexes(vectors, depth, baselines=baselines)
    yield AnnReport(flat.name, flat.build, latency(sample, flat.name, flat), {})
    for index in others:
        measured = latency(sample, index.name, index)
        recall = _recall(flat.neighbours, index.neighbours, depth)
        yield AnnReport(index.name, index.build, measured, recall)


def _indexes(vectors: FloatArray, depth: int, *, baselines: bool) -> Iterator[_Index]:
    seconds: dict[str, float] = {}
    for name, flat_below in (("flat", len(vectors) + 1), ("codes", 0)):
        index = timed(seconds, name, partial(FaissIndex.build, vectors, flat_below=flat_below))
        yield _Index(name, round(seconds[name], 2), partial(_search, index, depth))
    if baselines:
        yield from _ivf(vectors, depth)
        yield from _hnsw(vectors, depth)


def _search(index: FaissIndex, depth: int, queries: FloatArray) -> IntArray:
    return index.search(queries, depth)[1]


def _ivf(vectors: FloatArray, depth: int) -> Iterator[_Index]:
    """Inverted lists of whole vectors around centroids, by the share of lists that is probed."""
    faiss, seconds = require_faiss(), dict[str, float]()
    lists, dimension = int(4 * len(vectors) ** 0.5), vectors.shape[1]
    centroids = faiss.IndexFlatIP(dimension)
    index = faiss.IndexIVFFlat(centroids, dimension, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1  # no warning on standard output
    sample = vectors[:: max(1, len(vectors) // (40 * lists))]
    timed(seconds, "train", partial(index.train, sample))
    timed(seconds, "add", partial(index.add, vectors))
    for share in (8, 4, 2):
        parameters = faiss.SearchParametersIVF(nprobe=lists // share)
        name = f"inverted lists, 1/{share} of {lists}"
        build = round(sum(seconds.values()), 2)
        yield _Index(name, build, partial(_search_faiss, index, parameters, depth))


def _hnsw(vectors: FloatArray, depth: int) -> Iterator[_Index]:
    """HNSW over whole vectors (Malkov and Yashunin, arXiv 1603.09320), by efSearch."""
    faiss, seconds = require_faiss(), dict[str, float]()
    index = faiss.IndexHNSWFlat(vectors.shape[1], HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = HNSW_CONSTRUCTION
    timed(seconds, "add", partial(index.add, vectors))
    for width in (depth, 2 * depth):
        parameters = faiss.SearchParametersHNSW(efSearch=width)
        name = f"HNSW {HNSW_LINKS}, efSearch {width}"
        build = round(seconds["add"], 2)
        yield _Index(name, build, partial(_search_faiss, index, parameters, depth))


def _search_faiss(
    index: Any,  # noqa: ANN401 - faiss has no types
    parameters: Any,  # noqa: ANN401
    depth: int,
    queries: FloatArray,
) -> IntArray:
    return np.asarray(index.search(queries, depth, params=parameters)[1])


def _recall(
    nearest: Sequence[IntArray], neighbours: Sequence[IntArray], depth: int
) -> dict[int, float]:
    """Recall@k: the share of the k nearest among all that an index returned, mean over queries."""
    pairs = list(zip(np.concatenate(nearest), np.concatenate(neighbours), strict=True))
    return {
        k: round(float(np.mean([len(np.intersect1d(a[:k], b)) / k for a, b in pairs])), 4)
        for k in RECALL_AT
        if k <= depth
    }
