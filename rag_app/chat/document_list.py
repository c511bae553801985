"""The documents that a page lists, selects and removes, as each person has them.

A person is a login name; None where nobody logs in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing.errors import CollectionNotFound, CorpusNotFound, InvalidRequest
from indexing.filter import OWNER, Filter, Scope
from indexing.message import N_
from indexing.store.collections import collection_name
from indexing.store.view import DocumentEntry
from rag_app.chat.uploads import Uploads
from rag_app.chat.write_lock import patiently
from rag_app.corpus.access import Access, SharedCorpus


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document with its collections that a person may read, and whether they may remove it."""

    entry: DocumentEntry
    removable: bool


class DocumentList:
    """The documents of a corpus, with their uploaded files, which are deleted with them."""

    def __init__(self, corpus: SharedCorpus, uploads: Uploads) -> None:
        self._corpus, self._uploads = corpus, uploads

    def entries(
        self, person: str | None, collections: tuple[str, ...] = ()
    ) -> list[ListedDocument]:
        """The documents that a person may see, of some collections or all."""
        documents = self._entries(Scope(person), collections)
        own = {
            one.name
            for one in Access(self._corpus, person).collections()
            if one.changeable_by(person)
        }
        return [ListedDocument(one, not own.isdisjoint(one.collections)) for one in documents]

    def is_empty(self, person: str | None) -> bool:
        """Whether there is no document that a person may see."""
        try:
            with self._corpus.seen_by(OWNER).reading() as now:
                return now.store.limited(None, Scope(person)).is_empty
        except CorpusNotFound:
            return True

    def select(
        self, value: object, person: str | None, collections: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """The ids in a list sent by a browser that a person may see, of some collections or all."""
        ids = {each for each in value if isinstance(each, str)} if isinstance(value, list) else ()
        seen = self._entries(Scope(person), collections)
        return tuple(one.id for one in seen if one.id in ids)

    def collect(self, ids: Sequence[str], name: str, person: str | None) -> None:
        """Put documents into a collection of a person, which is made where there is none.

        Raises:
            CorpusLocked: Documents are being added, and that takes long.
            InvalidRequest: The name is none, or somebody else's; or they may not change a document.
        """
        removable = {one.entry.id for one in self.entries(person) if one.removable}
        if not removable.issuperset(ids):
            raise InvalidRequest(
                N_("a document of somebody else is selected; select only your own")
            )
        access, collections = Access(self._corpus, person), self._corpus.collections
        own = collection_name(name)

        def collect() -> None:
            if not access.may_change_collection(own):
                collections.create(own, owner=person)
            if ids:
                access.seen.collections.add(own, ids)

        patiently(self._corpus, collect, N_("%(name)s: cannot be changed", name=own))

    def remove(self, id_: str, person: str | None) -> None:
        """Remove a document from the collections that a person may change, with its uploaded file.

        Recordings beside that file go with it; other files stay.

        Raises:
            CorpusLocked: Documents are being added, and that takes long.
            InvalidRequest: The person may change none of its collections.
        """
        entry = next((one for one in self._entries(Scope(person)) if one.id == id_), None)
        if entry is None:
            return
        access = Access(self._corpus, person)
        leaves = [one.name for one in access.removal(id_).leaves]
        if not leaves:
            raise InvalidRequest(
                N_("%(title)s: is not yours to remove; ask whoever shares it", title=entry.title)
            )
        paths = {
            one.path for name in leaves for one in self._entries(OWNER, (name,)) if one.id == id_
        }
        patiently(
            self._corpus,
            lambda: access.remove(id_),
            N_("%(title)s: cannot be removed", title=entry.title),
        )
        stay = self._paths()
        for path in paths - stay:
            self._uploads.delete(path)
            self._uploads.delete_recordings(path, stay)

    def _paths(self) -> set[str]:
        """Where all documents lie, in every collection."""
        try:
            names = [one.name for one in self._corpus.collections.all()]
        except CorpusNotFound:
            return set()
        return {one.path for name in names for one in self._entries(OWNER, (name,))}

    def _entries(self, scope: Scope, collections: tuple[str, ...] = ()) -> list[DocumentEntry]:
        try:
            return self._corpus.seen_by(scope).documents(where=Filter(collections=collections))
        except (CorpusNotFound, CollectionNotFound):
            return []
