"""Indexes of vectors side by side: how quickly each finds how many of the nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.index.faiss_index import VectorIndex, require_faiss
from rag_app.evaluation.latency import Latency, latency, timed
from retriever.dense import LARGE_DEPTH

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Search = Callable[[FloatArray], IntArray]

RECALL_AT = (10, 100, 1000, LARGE_DEPTH)
COMPARED = 30_000_000  # vectors that are compared for the flat index; fewer queries beyond
GRAPH = 32  # links of a vector in HNSW
WIDTH = 80  # of the search while it is built


@dataclass(frozen=True, slots=True)
class Searched:
    """An index of vectors, asked for the LARGE_DEPTH nearest of a query's three texts.

    Attributes:
        index: Which, with its setting.
        build: Seconds.
        latency: Of a query.
        recall: At some depths, the share of the nearest that it finds.
    """

    index: str
    build: float
    latency: Latency
    recall: dict[int, float]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to search, and what it has found."""

    name: str
    build: float
    search: Search
    found: list[IntArray] = field(default_factory=list)

    def __call__(self, queries: FloatArray) -> None:
        self.found.append(self.search(queries))


def searched(
    vectors: FloatArray, queries: Sequence[FloatArray], *, rivals: bool
) -> Iterator[Searched]:
    """Flat first, then by codes, then HNSW and inverted lists where they are asked for.

    Args:
        vectors: (n, d).
        queries: (texts, d) of each query.
        rivals: Whether to build those too: a graph of a million vectors takes half an hour.
    """
    some = queries[: max(10, COMPARED // len(vectors))]
    depth = min(LARGE_DEPTH, len(vectors))
    flat, *others = _ways(vectors, depth, rivals=rivals)
    yield Searched(flat.name, flat.build, latency(some, flat.name, flat), {})
    for way in others:
        taken = latency(some, way.name, way)
        yield Searched(way.name, way.build, taken, _recall(flat.found, way.found, depth))


def _ways(vectors: FloatArray, depth: int, *, rivals: bool) -> Iterator[_Way]:
    seconds: dict[str, float] = {}
    for name, flat_below in (("flat", len(vectors) + 1), ("codes", 0)):
        index = timed(seconds, name, partial(VectorIndex.build, vectors, flat_below=flat_below))
        yield _Way(name, round(seconds[name], 2), partial(_own, index, depth))
    if rivals:
        yield from _inverted(vectors, depth)
        yield from _graph(vectors, depth)


def _own(index: VectorIndex, depth: int, queries: FloatArray) -> IntArray:
    return index.search(queries, depth)[1]


def _inverted(vectors: FloatArray, depth: int) -> Iterator[_Way]:
    """Lists of whole vectors around centroids, a share of which is looked into."""
    faiss, seconds = require_faiss(), dict[str, float]()
    lists, dimension = int(4 * len(vectors) ** 0.5), vectors.shape[1]
    centroids = faiss.IndexFlatIP(dimension)
    index = faiss.IndexIVFFlat(centroids, dimension, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1  # no warning on standard output
    sample = vectors[:: max(1, len(vectors) // (40 * lists))]
    timed(seconds, "train", partial(index.train, sample))
    timed(seconds, "add", partial(index.add, vectors))
    for share in (8, 4, 2):
        setting = faiss.SearchParametersIVF(nprobe=lists // share)
        name = f"inverted lists, 1/{share} of {lists}"
        built = round(sum(seconds.values()), 2)
        yield _Way(name, built, partial(_theirs, index, setting, depth))


def _graph(vectors: FloatArray, depth: int) -> Iterator[_Way]:
    """HNSW over whole vectors (Malkov and Yashunin, arXiv 1603.09320), by width of the search."""
    faiss, seconds = require_faiss(), dict[str, float]()
    index = faiss.IndexHNSWFlat(vectors.shape[1], GRAPH, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = WIDTH
    timed(seconds, "add", partial(index.add, vectors))
    for width in (depth, 2 * depth):
        setting = faiss.SearchParametersHNSW(efSearch=width)
        name = f"HNSW {GRAPH}, efSearch {width}"
        yield _Way(name, round(seconds["add"], 2), partial(_theirs, index, setting, depth))


def _theirs(index: Any, setting: Any, depth: int, queries: FloatArray) -> IntArray:  # noqa: ANN401
    return np.asarray(index.search(queries, depth, params=setting)[1])


def _recall(nearest: Sequence[IntArray], found: Sequence[IntArray], depth: int) -> dict[int, float]:
    """Of the k nearest, the share among all that was found."""
    pairs = list(zip(np.concatenate(nearest), np.concatenate(found), strict=True))
    return {
        k: round(float(np.mean([len(np.intersect1d(a[:k], b)) / k for a, b in pairs])), 4)
        for k in RECALL_AT
        if k <= depth
    }
