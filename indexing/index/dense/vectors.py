"""The vectors of all segments, as one index: each segment compares its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.index.dense import faiss_index
from indexing.index.dense.faiss_index import FaissIndex
from indexing.index.places import Mask, Places

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors by position, searched as `FaissIndex` is."""

    # the vectors of each segment, and where these stand; one part at least
    parts: tuple[tuple[FaissIndex, Places], ...]
    exact: bool = False  # whether all are compared, however many

    @classmethod
    def of(cls, index: FaissIndex) -> Vectors:
        """Those of one index."""
        return cls(((index, Places(len(index), 0)),))

    @cached_property
    def _size(self) -> int:
        return sum(places.live_count for _, places in self.parts)

    def __len__(self) -> int:
        return self._size

    @property
    def is_approximate(self) -> bool:
        """Whether a search can miss a neighbour, and is worth limiting in depth."""
        if self.exact:
            return False
        coded = any(index.is_approximate for index, _ in self.parts)
        return coded or (len(self.parts) > 1 and len(self) >= faiss_index.FLAT_BELOW)

    def on(self, device: str) -> Vectors:
        """The same, whose `products` are computed on a device. Errors as in `FaissIndex.on`."""
        return replace(self, parts=tuple((index.on(device), at) for index, at in self.parts))

    def products(self, queries: FloatArray) -> FloatArray:
        """(q, n) all inner products, each the same to the last bit in whatever segment."""
        whole = np.empty((len(queries), len(self)), np.float32)
        for index, places in self.parts:
            whole[:, places.where] = places.kept(index.products(queries))
        return whole

    def search(
        self, queries: FloatArray, k: int, *, allowed: Mask | None = None
    ) -> tuple[FloatArray, IntArray]:
        """The k nearest of each query; as `FaissIndex.search`."""
        return self._merged(FaissIndex.search, queries, k, allowed)

    def estimate(
        self, queries: FloatArray, k: int, *, allowed: Mask | None = None
    ) -> tuple[FloatArray, IntArray]:
        """As `search`, by codes alone where there are codes; as `FaissIndex.estimate`."""
        return self._merged(FaissIndex.estimate, queries, k, allowed)

    def inner_products(self, queries: FloatArray, positions: IntArray) -> FloatArray:
        """(q, p) scores of positions (p,), of which those of a document follow on each other."""
        scores = np.empty((len(queries), len(positions)), np.float32)
        for index, here, local in self._located(positions):
            scores[:, here] = index.inner_products(queries, local)
        return scores

    def at(self, positions: IntArray) -> FloatArray:
        """The vectors (p, d) at positions (p,)."""
        vectors = np.empty((len(positions), self.parts[0][0].vectors.shape[1]), np.float32)
        for index, here, local in self._located(positions):
            vectors[here] = index.at(local)
        return vectors

    def _located(self, positions: IntArray) -> list[tuple[FaissIndex, IntArray, IntArray]]:
        """For each segment, which of some positions it has, and as what."""
        found = [(index, *places.among(positions)) for index, places in self.parts]
        return [one for one in found if len(one[1])]

    def _merged(
        self,
        search: Callable[..., tuple[FloatArray, IntArray]],
        queries: FloatArray,
        k: int,
        allowed: Mask | None,
    ) -> tuple[FloatArray, IntArray]:
        """The best of what all segments find; those without codes are compared as a whole."""
        scores, positions = [], []
        for index, places in self.parts:
            mask = _allowed(places, allowed)
            if index.is_approximate:
                some, local = search(index, queries, k, allowed=mask)
                at = np.where(local < 0, -1, places.at(np.maximum(local, 0).astype(np.int32)))
            else:  # so many are wanted that a heap of the best would take longer
                every = np.flatnonzero(np.ones(len(index), np.bool_) if mask is None else mask)
                some = index.inner_products(queries, every)
                at = np.broadcast_to(places.at(every.astype(np.int32)), some.shape)
            scores.append(some)
            positions.append(at)
        whole, found = np.concatenate(scores, axis=1), np.concatenate(positions, axis=1)
        k = min(k, len(self) if allowed is None else int(allowed.sum()))
        if k < whole.shape[1]:
            top = np.argpartition(-whole, k, axis=1)[:, :k]
            whole, found = (np.take_along_axis(one, top, axis=1) for one in (whole, found))
        order = np.lexsort((found, -whole), axis=1)
        return np.take_along_axis(whole, order, axis=1), np.take_along_axis(found, order, axis=1)


def _allowed(places: Places, allowed: Mask | None) -> Mask | None:
    """(count,) which vectors of a segment may be returned; None for all."""
    live: Any = places.live
    if allowed is None:
        return live  # type: ignore[no-any-return]
    own = allowed[places.at(np.arange(places.count, dtype=np.int32))]
    return np.asarray(own if live is None else own & live, np.bool_)
