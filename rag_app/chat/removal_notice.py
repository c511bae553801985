"""Whom it concerns that a document is removed: who loses it, and whose conversations quote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag_app.chat.conversation_store import login_key
from rag_app.corpus.access import Access

if TYPE_CHECKING:
    from indexing.store.collections import Collection
    from rag_app.chat.conversation_store import ConversationStore
    from rag_app.corpus.corpus import Corpus

MAX_NAMES = 5  # of people that a sentence names


class RemovalNotices:
    """What people are told before they remove a document.

    Args:
        corpus: The documents.
        conversations: Stored conversations.
        people: Everybody who may log in.
    """

    def __init__(
        self, corpus: Corpus, conversations: ConversationStore, people: Sequence[str]
    ) -> None:
        self._corpus, self._conversations, self._people = corpus, conversations, people

    def text(self, document: str, person: str | None, key: str) -> str:
        """Whom a removal concerns beside nobody, in sentences; "" if it concerns nobody.

        Nobody learns from it of documents that they may not see: only people are named who have
        the document by the collections that it is taken out of, and lose it.

        Args:
            document: Its id.
            person: Who wants it removed: a login name; None where nobody logs in.
            key: Of their conversations.
        """
        removal = Access(self._corpus, person).removal(document)
        names = {one.name for one in removal.leaves}
        rest = [one for one in self._corpus.collections.holding(document) if one.name not in names]
        losers = [
            one
            for one in self._people
            if one != person and _has(one, removal.leaves) and not _has(one, rest)
        ]
        counts = self._conversations.quoting(document)
        own = 0 if _has(person, rest) else counts.pop(self._conversations.name(key), 0)
        return " ".join(
            [
                *_collections(removal.leaves, removal.keeps, person),
                *([f"{_listed(losers)} can read it now, and then no longer."] if losers else []),
                *self._quotes(own, losers, counts, person),
            ]
        )

    def _quotes(
        self, own: int, losers: Sequence[str], counts: dict[str, int], person: str | None
    ) -> Iterator[str]:
        parts = [f"{own} of yours"] if own else []
        if person is None and (others := sum(counts.values())):
            parts.append(f"{others} of other people")
        for one in losers:
            if theirs := counts.get(self._conversations.name(login_key(one)), 0):
                parts.append(f"{theirs} of {one}")
        if parts:
            yield f"Conversations quote it ({', '.join(parts)}): they keep the quotes alone."


def _collections(
    leaves: Sequence[Collection], keeps: Sequence[Collection], person: str | None
) -> Iterator[str]:
    if len(leaves) > 1:
        yield f"It is removed from {_listed([one.name for one in leaves])}."
    elif person is not None and any(one.owner is None for one in leaves):
        yield "It is everybody's."
    for one in keeps:
        yield f"It stays in {one.name}, which {one.owner} shares."


def _has(person: str | None, collections: Sequence[Collection]) -> bool:
    return any(one.readable_by(person) for one in collections)


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:MAX_NAMES]]
    if len(names) > MAX_NAMES:
        shown.append(f"{len(names) - MAX_NAMES} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
