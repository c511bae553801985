"""The documents that a person means by a name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexing.change_detection import DocumentIdentity
from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.store.derived.name_keys import joined
from indexing.store.view import DocumentEntry, DocumentName, NamedDocument, StoreView


def documents_named(
    name: str, entries: Sequence[DocumentEntry | NamedDocument | DocumentIdentity | DocumentName]
) -> list[str]:
    """Ids of the documents a name stands for: an id, a path, a folder, or a title.

    Raises:
        DocumentNotFound: None.
    """
    path = _path(name)
    for fits in (
        lambda e: e.id == name,
        lambda e: e.path in (name, path),
        lambda e: e.path.startswith(f"{path}/"),
        lambda e: name in (e.title, e.part),
    ):
        if name.strip() and (ids := [entry.id for entry in entries if fits(entry)]):
            return ids
    if not name.strip():
        raise DocumentNotFound("the name of the document is empty; see: rag-app list")
    raise DocumentNotFound(f"{name}: no such document in this corpus; see: rag-app list")


def removable_documents(name: str, entries: Sequence[DocumentEntry]) -> list[str]:
    """As `documents_named`, but a title that several documents share stands for none of them.

    Raises:
        DocumentNotFound: The name stands for nothing.
        InvalidRequest: It is such a title.
    """
    ids = documents_named(name, entries)
    same_title = [entry.id for entry in entries if entry.id in ids and name == entry.title]
    if len(same_title) > 1 and same_title == ids:
        raise InvalidRequest(
            f"{name}: {len(ids)} documents have this title; give ids: rag-app list"
        )
    return ids


def document_named(name: str, store: StoreView) -> str:
    """The id of the only document that a name stands for.

    Raises:
        DocumentNotFound: It stands for none, or for several.
    """
    if store.has(name):
        return name
    ids = documents_named(name, _likely(name, store))
    if len(ids) > 1:
        raise DocumentNotFound(f"{name}: {len(ids)} documents; give an id: rag-app list")
    return ids[0]


def _likely(name: str, store: StoreView) -> Sequence[NamedDocument | DocumentName]:
    """The documents of which some name has the letters and digits of this one, or begins so."""
    called, folder = joined(name), joined(_path(name))
    if not called or not folder:
        return store.named()
    return store.documents_at(store.names.likely(called, folder))


def _path(name: str) -> str:
    """The absolute path that a name stands for, if it is one."""
    try:
        return Path(name).expanduser().resolve().as_posix()
    except (OSError, RuntimeError, ValueError):  # "~nobody", a loop of links, a NUL
        return name
