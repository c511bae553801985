"""Which passages a search may return: by collection, document, path, speaker, date, people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from indexing.errors import DocumentNotFound
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.view import StoreView
from retriever.rounds.rounds import Rounds, Share, exchange


@dataclass(frozen=True, slots=True)
class MissingNames(Share[frozenset[str]]):
    """The documents that a filter names and one part of a corpus does not have."""

    names: frozenset[str]

    def merge(self, others: Sequence[MissingNames]) -> frozenset[str]:
        """Those that no part has."""
        return self.names.intersection(*(one.names for one in others))


def passage_mask(
    filter_: Filter, store: StoreView, snapshot: Snapshot
) -> Rounds[npt.NDArray[np.bool_] | None]:
    """(passages,) which ones pass; None when all do.

    Raises:
        DocumentNotFound: The filter names a document that is not there.
    """
    if not filter_ and store.scope is None:
        return None
    limits = replace(filter_, collections=(), speaker=None)
    if not limits:
        return _limited(store.rows(), filter_, store, snapshot)
    known = limits == Filter(documents=limits.documents) and all(map(store.has, limits.documents))
    rows = store.document_rows(filter_.documents if known else None)
    names = {name for _, id_, _, _, title in rows for name in (id_, title)}
    missing = yield from exchange(MissingNames(frozenset(filter_.documents) - names))
    for name in filter_.documents:
        if name in missing:
            raise DocumentNotFound(f"{name}: no document has this id or title; see: rag-app list")
    days = store.days() if filter_.since or filter_.until else {}
    people = store.people() if filter_.participants else {}
    admitted = [
        row
        for row, id_, path, _, title in rows
        if filter_.admits(
            id_=id_, title=title, path=path, day=days.get(row, ""), people=people.get(row, ())
        )
    ]
    return _limited(admitted, filter_, store, snapshot)


def _limited(
    admitted: Sequence[int], filter_: Filter, store: StoreView, snapshot: Snapshot
) -> npt.NDArray[np.bool_]:
    """(passages,) which ones are of documents of these rows, and of the filter's speaker."""
    mask = np.isin(snapshot.document_rows, admitted)[snapshot.owner]
    if filter_.speaker:
        mask &= np.isin(snapshot.passage_rows, store.passages_spoken_by(filter_.speaker))
    return np.asarray(mask, np.bool_)
