"""A search: what it asks, and the corpus as it reads it: one part, or a part for each shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

from indexing.documents import Document, Hit
from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.message import N_
from indexing.store.store import Store
from retriever.features import Embed
from retriever.fusion import CATCHES, EVIDENCE, RANKING_OF_EVIDENCE, RANKINGS, Ranking
from retriever.retriever import Retriever, search
from retriever.similar_documents import SimilarDocument, similar_documents


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and how much it is to find.

    Raises:
        InvalidRequest: There is no ranking by that name, or a number is below 1.
    """

    query: str  # a question or a description, of any length
    k: int = 5  # documents at most
    passages: int = 3  # passages of each document at most
    where: Filter = field(default_factory=Filter)  # limits of what is searched
    ranking: str = "default"  # a name from `retriever.fusion.RANKINGS`

    def __post_init__(self) -> None:
        ranking_named(self.ranking)
        if self.k < 1 or self.passages < 1:
            raise InvalidRequest("ask for at least one document and one passage")


def ranking_named(name: str) -> Ranking:
    """The features that count in a ranking, in a catch, or where evidence is looked for.

    Raises:
        InvalidRequest: There is no ranking by that name.
    """
    every = RANKINGS | CATCHES | {EVIDENCE: RANKING_OF_EVIDENCE}
    if name not in every:
        raise InvalidRequest(f"no ranking {name!r}; there are: {', '.join(RANKINGS)}")
    return every[name]


@dataclass(frozen=True)
class CorpusView:
    """A corpus, or a shard of one, as it is at one moment, whatever is written meanwhile."""

    store: Store  # its documents, in a read transaction
    derive: Callable[[Store], Snapshot]  # finds the index of them
    name: str = ""  # of the shard; "" for a whole corpus

    @property
    def snapshot(self) -> Snapshot:
        """The index."""
        return self.derive(self.store)


@dataclass(frozen=True)
class CorpusParts:
    """All parts of a corpus at one moment, read in this process."""

    parts: tuple[CorpusView, ...]  # those that hold documents
    scope: tuple[int, ...] | None = None  # rows of the collections that are read; None for all
    lost: tuple[str, ...] = ()  # none here, where all are read or the search fails

    @property
    def names(self) -> list[str]:
        """Of the shards."""
        return [one.name for one in self.parts]

    def search(self, request: SearchRequest, embed: Embed) -> list[Hit]:
        """As `Retriever.search`, over all parts; each text of the query is encoded once."""
        parts = self.retrievers(cache(embed), ranking_named(request.ranking))
        where = _without_collections(request.where)
        return search(parts, request.query, k=request.k, passages=request.passages, where=where)

    def retrievers(self, embed: Embed, ranking: Ranking) -> list[Retriever]:
        """Of each part."""
        return [
            Retriever(one.store.within(self.scope), one.snapshot, embed, ranking)
            for one in self.parts
        ]

    def similar(self, id_: str, *, k: int, where: Filter | None) -> list[SimilarDocument]:
        """As `similar_documents`, over all parts."""
        parts = [(one.store.within(self.scope), one.snapshot) for one in self.parts]
        return similar_documents(id_, parts, k=k, where=_without_collections(where))

    def document(self, id_: str) -> Document:
        """A document as it is at this moment.

        Raises:
            DocumentNotFound: None of the parts has it.
        """
        for one in self.parts:
            if one.store.digest(id_) is not None:
                return one.store.within(self.scope).document(id_)
        raise DocumentNotFound(N_("%(name)s: no such document here; see: rag-app list", name=id_))


def _without_collections(where: Filter | None) -> Filter | None:
    """The rest of a filter whose collections have been looked up."""
    return where and replace(where, collections=())
