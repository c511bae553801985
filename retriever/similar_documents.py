"""Documents that are about the same as a given one: by the cosine of whole-document vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.store import DocumentName, Store


@dataclass(frozen=True, slots=True)
class SimilarDocument:
    """A document beside another one.

    Attributes:
        document: Its name.
        similarity: Cosine of the two documents' vectors, -1 to 1.
    """

    document: DocumentName
    similarity: float


def similar_documents(
    id_: str, store: Store, snapshot: Snapshot, *, k: int = 5, where: Filter | None = None
) -> list[SimilarDocument]:
    """The k most similar to a document, best first, without itself; loads no model.

    Args:
        id_: The document's id.
        store: Limited to what may be seen.
        snapshot: Of the whole store.
        k: At most so many.
        where: Limits by document and path.

    Raises:
        InvalidRequest: k is less than 1.
        DocumentNotFound: Its text has not been indexed.
    """
    if k < 1:
        raise InvalidRequest(f"{k} documents were asked for; ask for at least 1")
    where = where or Filter()
    names = {
        row: DocumentName(name, path, part, title)
        for row, name, path, part, title, _ in store.document_rows()
    }
    own = next((row for row, name in names.items() if name.id == id_), None)
    position = int(np.searchsorted(snapshot.document_rows, own)) if own is not None else -1
    if position < 0 or snapshot.document_rows[position : position + 1].tolist() != [own]:
        raise DocumentNotFound(f"{id_}: the document is not indexed; see: rag-app list")
    admitted = [
        row
        for row, name in names.items()
        if row != own and where.admits(id_=name.id, title=name.title, path=name.path)
    ]
    allowed = np.isin(snapshot.document_rows, admitted)
    if not allowed.any():
        return []
    vector = snapshot.document_vectors.at(np.array([position]))
    depth = min(k, int(allowed.sum()))
    scores, positions = snapshot.document_vectors.search(vector, depth, allowed=allowed)
    return [
        SimilarDocument(names[int(snapshot.document_rows[at])], float(score))
        for score, at in zip(scores[0], positions[0], strict=True)
        if at >= 0
    ][:k]
