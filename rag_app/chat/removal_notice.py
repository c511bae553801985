"""Who is affected when a document is removed: who loses it, and whose conversations quote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing.filter import Scope
from indexing.store.collections import Collection
from rag_app.chat.conversation_store import ConversationStore, login_key
from rag_app.chat.language.current import count, gettext, listed, ngettext
from rag_app.corpus.access import Access, SharedCorpus

MAX_NAMES = 5  # of people that a sentence names


class RemovalNotices:
    """What people are told before they remove a document."""

    def __init__(
        self, corpus: SharedCorpus, conversations: ConversationStore, people: Sequence[str]
    ) -> None:
        self._corpus, self._conversations, self._people = corpus, conversations, people

    def text(self, document: str, person: str | None, key: str) -> str:
        """Whom a removal concerns beside nobody, in sentences; "" if it concerns nobody.

        Nobody learns from it of documents that they may not see: only people are named who have the
        document by the collections that it is taken out of, and lose it. The key opens the
        conversations of whoever removes it.
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
                *(_lose(losers) if losers else ()),
                *self._quotes(own, losers, counts, person),
            ]
        )

    def _quotes(
        self, own: int, losers: Sequence[str], counts: dict[str, int], person: str | None
    ) -> Iterator[str]:
        parts = [gettext("%(number)s of yours", number=count(own))] if own else []
        if person is None and (others := sum(counts.values())):
            parts.append(gettext("%(number)s of other people", number=count(others)))
        for one in losers:
            if theirs := counts.get(self._conversations.name(login_key(one)), 0):
                parts.append(gettext("%(number)s of %(name)s", number=count(theirs), name=one))
        if parts:
            yield gettext(
                "Conversations quote it (%(whose)s): they keep the quotes alone.",
                whose=", ".join(parts),
            )


def _collections(
    leaves: Sequence[Collection], keeps: Sequence[Collection], person: str | None
) -> Iterator[str]:
    if len(leaves) > 1:
        names = _names([one.name for one in leaves])
        yield gettext("It is removed from %(names)s.", names=names)
    elif person is not None and any(one.owner is None for one in leaves):
        yield gettext("It is everybody's.")
    for one in keeps:
        yield gettext(
            "It stays in %(collection)s, which %(name)s shares.",
            collection=one.name,
            name=one.owner,
        )


def _has(person: str | None, collections: Sequence[Collection]) -> bool:
    return any(one.readable_by(Scope(person)) for one in collections)


def _lose(names: Sequence[str]) -> Iterator[str]:
    yield ngettext(
        "%(names)s can read it now, and then no longer.",
        "%(names)s can read it now, and then no longer.",
        len(names),
        names=_names(names),
    )


def _names(names: Sequence[str]) -> str:
    shown = [*names[:MAX_NAMES]]
    if more := len(names[MAX_NAMES:]):
        shown.append(ngettext("%(num)s more", "%(num)s more", more))
    return listed(shown)
