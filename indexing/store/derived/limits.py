"""A filter in, the documents that it admits out: looked up, others are not read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexing.filter import Filter
from indexing.store.derived.name_keys import joined
from indexing.store.view import FEW, StoreView

_WILD = re.compile(r"[*?\[]")

_Row = tuple[int, str, str, str, str]


def admitted_rows(store: StoreView, where: Filter) -> list[int]:
    """Rows of the documents that a filter admits, ascending.

    Args:
        store: Limited to what may be read, and to the collections of the filter.
        where: The filter; its speaker limits passages.
    """
    found: list[set[int]] = []
    if where.since or where.until:
        found.append(store.occasions.dated(where.since, where.until))
    if where.participants:
        found.append(store.occasions.taking_part(where))
    if where.documents or where.path:
        found.append(_placed(store, Filter(documents=where.documents, path=where.path)))
    return sorted(set[int].intersection(*found)) if found else store.rows()


def known_names(store: StoreView, names: Sequence[str]) -> frozenset[str]:
    """Those of some names that are ids or titles of documents."""
    known = {name for _, id_, _, _, title in _called(store, names) for name in (id_, title)}
    return frozenset(known.intersection(names))


def _placed(store: StoreView, where: Filter) -> set[int]:
    """Rows of the documents of the names and path of a filter."""
    if where.documents:
        rows = _called(store, where.documents)
    else:
        path = where.path or ""
        file = "" if _WILD.search(path) else joined(path.rpartition("/")[2])
        found = store.names.likely(file) if file else ()
        if not file or len(found) > FEW:
            every = store.paths_of_all()
            return {row for row, one in every if where.admits(id_="", title="", path=one)}
        rows = store.document_rows(store.ids(found))
    return {
        row for row, id_, path, _, title in rows if where.admits(id_=id_, title=title, path=path)
    }


def _called(store: StoreView, names: Sequence[str]) -> list[_Row]:
    """As `document_rows`, of all documents that may have some ids or titles."""
    rows = {row for name in names for row in store.names.likely(joined(name))}
    if len(rows) > FEW or not all(map(joined, names)):  # there is nothing to look up
        return store.document_rows()
    return store.document_rows([*names, *store.ids(sorted(rows))])
