"""The collections that a page lists, chooses and shares, and the one that uploads go to."""

from __future__ import annotations

from itertools import count

from indexing.errors import CorpusNotFound, InvalidRequest
from indexing.message import N_
from indexing.store.collections import DEFAULT, Collection, collection_name
from rag_app.chat.write_lock import patiently
from rag_app.corpus.access import Access, SharedCorpus


class CollectionList:
    """The collections of a corpus, as each person has them.

    A person is a login name; None where nobody logs in.
    """

    def __init__(self, corpus: SharedCorpus) -> None:
        self._corpus = corpus

    def entries(self, person: str | None) -> list[Collection]:
        """Those that a person may read: their own, then other people's, then everybody's."""
        rank = {person: 0, None: 2}
        collections = Access(self._corpus, person).collections()
        return sorted(collections, key=lambda one: (rank.get(one.owner, 1), one.name.casefold()))

    def select(self, value: object, person: str | None) -> tuple[str, ...]:
        """The names in a list sent by a browser that are collections of theirs to read."""
        names = {each for each in value if isinstance(each, str)} if isinstance(value, list) else ()
        return tuple(one.name for one in self.entries(person) if one.name in names)

    def share(self, name: str, person: str | None, *, shared: bool) -> None:
        """Let everybody read a collection, or nobody but its owner.

        Raises:
            InvalidRequest: It is not theirs.
            CorpusLocked: Documents are being added, and that takes long.
        """
        if all(one.name != name or one.owner != person for one in self.entries(person)):
            raise InvalidRequest(N_("this collection is not yours to share; ask its owner"))
        change = self._corpus.collections.share if shared else self._corpus.collections.unshare
        patiently(self._corpus, lambda: change(name), N_("%(name)s: cannot be changed", name=name))

    def for_uploads(self, person: str | None) -> str | None:
        """The name of the collection that a person's uploads go to; None before the first one."""
        if person is None:
            return DEFAULT
        own = [one.name for one in self.entries(person) if one.owner == person]
        return person if person in own else next(iter(own), None)

    def make_for_uploads(self, person: str | None) -> str:
        """The name of that collection, which is made where there is none.

        Raises:
            CorpusLocked: Another process is writing.
        """
        name = self.for_uploads(person)
        if name is not None:
            return name
        assert person is not None
        names, number = {DEFAULT, *self._names()}, count(2)
        name = collection_name(person)
        while name in names:
            name = collection_name(f"{person} ({next(number)})")
        return self._corpus.collections.create(name, owner=person).name

    def _names(self) -> set[str]:
        try:
            return {one.name for one in self._corpus.collections.all()}
        except CorpusNotFound:
            return set()
