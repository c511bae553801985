"""The documents of a corpus: listed, read, and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Document, Figure
from indexing.errors import DocumentNotFound
from indexing.filter import Filter, Scope
from indexing.store.view import DocumentEntry, StoreView
from indexing.walk import is_gone
from rag_app.corpus.contents.document_names import documents_named, removable_documents
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from generator.overview.overview import Overview
    from generator.register.entry import Register
    from rag_app.register.reading import RegisterLimits


@dataclass(frozen=True, slots=True)
class CorpusDocuments:
    """The documents of a corpus; errors are those of `Corpus`.

    Attributes:
        stores: Where they are.
        indexes: What is derived from them.
        scope: What may be read of them.
    """

    stores: Stores
    indexes: Indexes
    scope: Scope

    def all(self, where: Filter) -> list[DocumentEntry]:
        """Those that a filter admits, in the order they were added."""
        with self.stores.reading() as store:
            limited = store.limited(where, self.scope)
            entries = limited.entries()
            people = limited.people_by_id() if where.participants else {}
        return [
            one
            for one in entries
            if where.admits(
                id_=one.id,
                title=one.title,
                path=one.path,
                day=one.occasion.day,
                people=people.get(one.id, ()),
            )
        ]

    def nothing_matches(self, where: Filter) -> str:
        """What to say where a filter's dates and people admit none; "" where they admit one."""
        from rag_app.requests.occasions import nothing_in_words

        if not where.is_of_occasions or self.all(where):
            return ""
        others = replace(where, since=None, until=None, participants=())
        return nothing_in_words(where, [one.occasion.day for one in self.all(others)])

    def missing(self, where: Filter | None) -> list[DocumentEntry]:
        """Those whose file is no longer where it was, in any collection that has them."""
        with self.stores.reading() as store:
            limited = store.limited(where, self.scope)
            return [
                entry
                for entry in limited.entries()
                if is_gone(entry.path) and all(map(is_gone, limited.paths(entry.id)))
            ]

    def named(self, name: str, where: Filter | None) -> Document:
        """The whole document that a name stands for."""
        with self.stores.reading() as store:
            limited = store.limited(where, self.scope)
            return limited.document(document_named(name, limited))

    def overview(self, name: str, where: Filter | None) -> Overview:
        """What the document of a name is about."""
        from generator.overview.overview import overview

        with self.stores.reading() as store:
            limited = store.limited(where, self.scope)
            id_ = document_named(name, limited)
            document, passages = limited.document(id_), store.passages_of(id_)
            vectors = store.passage_vectors_of(id_)
        return overview(document, passages, vectors)

    def register(
        self, limits: RegisterLimits, progress: Callable[[int, int], None] | None
    ) -> Register:
        """What was decided, is to be done and is open in all of them."""
        from rag_app.register.reading import register_of

        with self.stores.reading() as store:
            return register_of(store.limited(limits.where, self.scope), limits, progress=progress)

    def figure(self, document: str, key: str, where: Filter | None) -> Figure:
        """A figure of a document, by id, with its data."""
        with self.stores.reading() as store:
            limited = store.limited(where, self.scope)
            data = limited.pictures.figure(document, key)
            figures = limited.document(document).figures
        return replace(next(one for one in figures if one.key == key), data=data)

    def remove(self, names: Iterable[str | Path], collection: str | None) -> int:
        """Remove those that names stand for, from one collection or from all; how many."""
        self.stores.connection()  # an absent corpus is an error, not an empty one
        with self.stores.writing() as store:
            limits = None if collection is None else Filter(collections=(collection,))
            entries = store.limited(limits, self.scope).entries()
            ids = dict.fromkeys(
                id_ for name in names for id_ in removable_documents(str(name), entries)
            )
            if collection is None:
                store.remove(ids)
            else:
                store.leave(ids, collection)
            self.indexes.refresh(store)
        return len(ids)


def document_named(name: str, store: StoreView) -> str:
    """The id of the only document that a name stands for.

    Raises:
        DocumentNotFound: It stands for none, or for several.
    """
    if store.has(name):
        return name
    ids = documents_named(name, store.named())
    if len(ids) > 1:
        raise DocumentNotFound(f"{name}: {len(ids)} documents; give an id: rag-app list")
    return ids[0]
