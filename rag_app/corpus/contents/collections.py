"""The collections of a corpus: listed, made, changed and deleted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from indexing.filter import Scope
from indexing.store.collections import Collection
from rag_app.corpus.contents.document_names import removable_documents
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.stores import Stores


@dataclass(frozen=True, slots=True)
class Deletion:
    """What the deletion of a collection does to documents."""

    collection: Collection
    removed: tuple[str, ...]  # ids of the documents that no other holds: they leave the corpus
    # for each document that stays, the other collections that hold it
    kept: dict[str, tuple[Collection, ...]]


@dataclass(frozen=True, slots=True)
class CorpusCollections:
    """The collections of a corpus.

    Errors of each: `CollectionNotFound` for a name that is none, `InvalidRequest` for one that
    cannot be or is taken, `CorpusLocked` while another process writes.
    """

    stores: Stores  # where they are
    indexes: Indexes  # what is derived from them
    scope: Scope  # what may be listed of them, and by whose names documents go into others

    def all(self) -> list[Collection]:
        """All collections that may be read, in the order in which they were made."""
        with self.stores.reading() as store:
            return [one for one in store.collections.all() if one.readable_by(self.scope)]

    def named(self, name: str) -> Collection:
        """The collection of a name."""
        with self.stores.reading() as store:
            return store.collections.named(name)

    def holding(self, document: str) -> list[Collection]:
        """The collections that hold a document, by id."""
        with self.stores.reading() as store:
            return store.collections.holding(document)

    def create(self, name: str, *, owner: str | None = None, shared: bool = False) -> Collection:
        """Make an empty collection; without an owner it is everybody's."""
        with self.stores.writing() as store:
            return store.collections.create(name, owner=owner, shared=shared)

    def rename(self, name: str, to: str) -> None:
        """Give a collection another name."""
        with self.stores.writing() as store:
            store.collections.rename(name, to)

    def share(self, name: str) -> None:
        """Let everybody read a collection."""
        with self.stores.writing() as store:
            store.collections.share(name)

    def unshare(self, name: str) -> None:
        """Let nobody but its owner read a collection."""
        with self.stores.writing() as store:
            store.collections.share(name, shared=False)

    def give(self, name: str, owner: str | None) -> None:
        """Give a collection to another owner; None makes it everybody's."""
        with self.stores.writing() as store:
            store.collections.give(name, owner)

    def add(self, name: str, documents: Iterable[str | Path]) -> int:
        """Put documents of the corpus into a collection too; how many were not in it.

        Args:
            name: Of the collection.
            documents: Ids, titles, files or folders, as in `Corpus.remove`.

        Raises:
            DocumentNotFound: A name fits no document; nothing is changed then.
        """
        with self.stores.writing() as store:
            entries = store.entries()
            ids = [id_ for one in documents for id_ in removable_documents(str(one), entries)]
            added = store.collections.add(ids, name, person=self.scope.login)
            self.indexes.refresh(store)
        return added

    def deletion(self, name: str) -> Deletion:
        """What it would do to delete a collection; nothing is done."""
        with self.stores.reading() as store:
            collections = store.collections
            collection = collections.named(name)
            removed = tuple(collections.only(name))
            inside = [one.id for one in store.of(name).identities()]
            kept = {
                id_: tuple(one for one in collections.holding(id_) if one.name != collection.name)
                for id_ in inside
                if id_ not in set(removed)
            }
        return Deletion(collection, removed, kept)

    def delete(self, name: str) -> int:
        """Delete a collection, and the documents that no other holds; how many these were."""
        with self.stores.writing() as store:
            removed = store.delete_collection(name)
            self.indexes.refresh(store)
        return len(removed)
