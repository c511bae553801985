"""Documents that are about the same as a given one: by the cosine of whole-document vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.view import DocumentName, StoreView
from retriever.rounds.rounds import Rounds, Share, exchange, run_together

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SimilarDocument:
    """A document beside another one."""

    document: DocumentName
    similarity: float


@dataclass(frozen=True, slots=True)
class _OwnVector(Share["_OwnVector"]):
    """The row and the vector (d,) of the document, from the part that has it."""

    row: int = -1
    vector: FloatArray | None = None

    def merge(self, others: Sequence[_OwnVector]) -> _OwnVector:
        return max(self, *others, key=lambda one: one.row) if others else self


def similar_documents(
    id_: str,
    parts: Sequence[tuple[StoreView, Snapshot]],
    *,
    k: int = 5,
    where: Filter | None = None,
) -> list[SimilarDocument]:
    """The k most similar to a document, best first, without itself; loads no model.

    Args:
        id_: The document's id.
        parts: The corpus, in one part or several: a store limited to what may be seen, and the
            snapshot of the whole of it.
        k: At most so many.
        where: Limits by document and path.

    Raises:
        InvalidRequest: k is less than 1.
        DocumentNotFound: Its text has not been indexed.
    """
    if k < 1:
        raise InvalidRequest(f"{k} documents were asked for; ask for at least 1")
    runs = [_similar(id_, store, snapshot, k, where or Filter()) for store, snapshot in parts]
    every = [pair for pairs in run_together(runs) for pair in pairs] if runs else []
    every.sort(key=lambda pair: (-pair[1].similarity, pair[0]))
    return [one for _, one in every[:k]]


def _similar(
    id_: str, store: StoreView, snapshot: Snapshot, k: int, where: Filter
) -> Rounds[list[tuple[int, SimilarDocument]]]:
    """The most similar documents of one part, with their rows."""
    names = {
        row: DocumentName(name, path, part, title)
        for row, name, path, part, title in store.document_rows()
    }
    row = next((row for row, name in names.items() if name.id == id_), -1)
    at = np.flatnonzero(snapshot.document_rows == row)
    share = _OwnVector(row, snapshot.document_vectors.at(at)[0]) if len(at) else _OwnVector()
    own = yield from exchange(share)
    if own.vector is None:
        raise DocumentNotFound(f"{id_}: the document is not indexed; see: rag-app list")
    admitted = [
        row
        for row, name in names.items()
        if row != own.row and where.admits(id_=name.id, title=name.title, path=name.path)
    ]
    allowed = np.isin(snapshot.document_rows, admitted)
    return [
        (row, SimilarDocument(names[row], float(score)))
        for score, row in _nearest(snapshot, own.vector, k, allowed)
    ]


def _nearest(
    snapshot: Snapshot, vector: FloatArray, k: int, allowed: npt.NDArray[np.bool_]
) -> list[tuple[np.float32, int]]:
    """Scores and rows of the k nearest documents, best first; ties broken by row."""
    index, depth = snapshot.document_vectors, min(k, int(allowed.sum()))
    if not depth:
        return []
    if index.is_approximate:
        scores, positions = index.search(vector[None], depth, allowed=allowed)
        found = [(s, p) for s, p in zip(scores[0], positions[0], strict=True) if p >= 0]
    else:
        products = np.where(allowed, index.products(vector[None])[0], -np.inf)
        order = np.argsort(-products, kind="stable")[:depth]
        found = [(products[position], position) for position in order]
    return [(score, int(snapshot.document_rows[position])) for score, position in found]
