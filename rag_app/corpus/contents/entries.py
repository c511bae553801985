"""The entries of documents that a filter admits, and of those whose file is gone."""

from __future__ import annotations

from indexing.filter import Filter
from indexing.store.derived.limits import admitted_rows
from indexing.store.view import DocumentEntry, StoreView
from indexing.walk import is_gone


def admitted(store: StoreView, where: Filter) -> list[DocumentEntry]:
    """Those of documents that a filter admits, in the order in which they were added.

    Args:
        store: Limited to what may be read, and to the collections of the filter.
        where: The filter.
    """
    ids = {*store.ids(admitted_rows(store, where))}
    return [one for one in store.entries() if one.id in ids]


def gone(store: StoreView) -> list[DocumentEntry]:
    """Those whose file no longer exists, in any collection that holds them."""
    return [
        entry
        for entry in store.entries()
        if is_gone(entry.path) and all(map(is_gone, store.paths(entry.id)))
    ]
