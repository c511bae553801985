"""Which passages a search may return: by collection, document, path, speaker, date, people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from indexing.errors import DocumentNotFound
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.derived.limits import admitted_rows, known_names
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
    if names := filter_.documents:
        missing = yield from exchange(MissingNames(frozenset(names) - known_names(store, names)))
        for name in names:
            if name in missing:
                raise DocumentNotFound(
                    f"{name}: no document has this id or title; see: rag-app list"
                )
    if replace(filter_, collections=(), speaker=None) or store.scope is not None:
        mask = np.isin(snapshot.document_rows, admitted_rows(store, filter_))[snapshot.owner]
    else:
        mask = np.ones(snapshot.passages, np.bool_)
    if filter_.speaker:
        mask &= snapshot.spoken_by(filter_.speaker)
    return np.asarray(mask, np.bool_)
