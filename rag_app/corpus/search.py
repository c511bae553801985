"""A query in, the best documents of a corpus out, in one piece or in shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from generator.request import AskRequest, Retrieval
from indexing.documents import Hit
from indexing.errors import InvalidRequest, ShardLost
from indexing.filter import Filter
from indexing.store.store import Store
from indexing.store.view import StoreView
from rag_app.corpus.contents.documents import document_named
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.models import Models
from rag_app.corpus.shards.manifest import MissingShards
from rag_app.corpus.shards.shards import PinnedShards
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from generator.answer import ContextEntry
    from rag_app.corpus.shards.missing import PartialHits
    from rag_app.corpus.shards.ray_cluster import RemoteShards
    from retriever.retriever import Retriever
    from retriever.similar_documents import SimilarDocument
    from retriever.spelling import Spelling

Read = TypeVar("Read")

EVIDENCE_PASSAGES = 16
"""Passages of evidence, over all documents of an answer."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and how much it is to find.

    Attributes:
        query: A question or a description, of any length.
        k: Documents at most.
        passages: Passages of each document at most.
        where: Limits of what is searched.
        ranking: A name from `retriever.fusion.RANKINGS`.

    Raises:
        InvalidRequest: There is no ranking by that name.
    """

    query: str
    k: int
    passages: int
    where: Filter | None
    ranking: str = "default"

    def __post_init__(self) -> None:
        _require_ranking(self.ranking)


@dataclass(frozen=True, slots=True)
class Moment:
    """A corpus as all of one question sees it, whatever is written meanwhile.

    Attributes:
        store: Its documents, in a read transaction.
        shards: What is published of it; None in one piece.
    """

    store: Store
    shards: PinnedShards | RemoteShards | None


@dataclass(frozen=True, slots=True)
class Search:
    """The search of a corpus.

    Attributes:
        stores: Its documents.
        indexes: What is derived from them.
        models: What encodes queries.
        missing_shards: What becomes of a question when a shard is lost.
    """

    stores: Stores
    indexes: Indexes
    models: Models
    missing_shards: MissingShards

    def hits(self, request: SearchRequest) -> list[Hit]:
        """The best documents; it fails where a shard is lost."""
        with self.indexes.shards(request.where) as shards:
            return self._hits(shards, request)

    def partial(self, request: SearchRequest) -> PartialHits:
        """The best documents, and which lost shards were left out, if they may be."""
        from rag_app.corpus.shards.missing import PartialHits

        with self._moment(request.where) as moment:
            hits = self._hits(moment.shards, request)
            limited = moment.store.limited(request.where)
            return PartialHits(hits, _ledger_of_lost(moment.shards, limited))

    def at_one_moment(self, where: Filter, read: Callable[[Moment], Read]) -> Read:
        """What somebody reads of the corpus as it is at one moment.

        Args:
            where: Limits by collection.
            read: Reads it; asked again, of a later moment, where a shard was lost on the way that
                may be left out.
        """
        try:
            with self._moment(where) as moment:
                return read(moment)
        except ShardLost:
            if self.missing_shards == "fail":
                raise
            with self._moment(where) as moment:  # it had hits, and is known to be lost by now
                return read(moment)

    def evidence(
        self, request: AskRequest, moment: Moment
    ) -> tuple[Retrieval, tuple[ContextEntry, ...]]:
        """The hits for a request's query, and their documents.

        Beside them a line of the ledger for each lost shard that was left out.
        """
        shards, where = moment.shards, request.where
        hits = self._hits(shards, SearchRequest(request.query, request.k, EVIDENCE_PASSAGES, where))
        limited = moment.store.limited(where)
        source = limited if shards is None else shards
        documents = {hit.document: source.document(hit.document) for hit in hits}
        return Retrieval(hits, documents.__getitem__), _ledger_of_lost(shards, limited)

    @contextmanager
    def retriever(self, ranking: str) -> Iterator[Retriever]:
        """What scores a corpus in one piece, as it is at one moment."""
        from retriever.fusion import RANKINGS
        from retriever.retriever import Retriever

        _require_ranking(ranking)
        with self.stores.reading() as store:
            embed = self.models.query_encoder(store.fingerprint()).encode_queries
            yield Retriever(store, self.indexes.snapshot(store), embed, RANKINGS[ranking])

    def similar(self, name: str, k: int, where: Filter | None) -> list[SimilarDocument]:
        """The documents that are most similar to the one of a name, best first."""
        from retriever.similar_documents import similar_documents

        with self.stores.reading() as store:
            limited = store.limited(where)
            id_ = document_named(name, limited)
            with self.indexes.local_shards(limited.scope) as shards:
                if shards is not None:
                    return shards.similar(id_, k=k, where=where)
            return similar_documents(
                id_, [(limited, self.indexes.snapshot(store))], k=k, where=where
            )

    def spelling(self, store: StoreView) -> Spelling | None:
        """The spelling of documents; None for those in shards, whose words are not in one place.

        Args:
            store: The documents, limited to those that may be read.
        """
        from retriever.spelling import Spelling

        if self.indexes.manifest is not None:
            return None
        return Spelling(store, self.indexes.snapshot(self.stores.connection()))

    def _hits(
        self, shards: PinnedShards | RemoteShards | None, request: SearchRequest
    ) -> list[Hit]:
        from retriever.fusion import RANKINGS

        k, passages, where = request.k, request.passages, request.where
        if shards is None:
            with self.retriever(request.ranking) as retriever:
                return retriever.search(request.query, k=k, passages=passages, where=where)
        encoder = self.models.query_encoder(self.stores.connection().fingerprint())
        return shards.search(
            request.query,
            k=k,
            passages=passages,
            where=where,
            embed=encoder.encode_queries,
            ranking=RANKINGS[request.ranking],
        )

    @contextmanager
    def _moment(self, where: Filter | None) -> Iterator[Moment]:
        missing = self.missing_shards
        with (
            self.stores.reading() as store,
            self.indexes.shards(where, missing=missing) as shards,
        ):
            yield Moment(store, shards)


def _ledger_of_lost(
    shards: PinnedShards | RemoteShards | None, store: StoreView
) -> tuple[ContextEntry, ...]:
    """Lines of the ledger for the lost shards that a search left out; none in one piece."""
    if shards is None or not shards.lost:
        return ()
    from rag_app.corpus.shards.missing import ledger_lines

    return ledger_lines(shards.lost, shards.names, store.entries())


def _require_ranking(name: str) -> None:
    from retriever.fusion import RANKINGS

    if name not in RANKINGS:
        raise InvalidRequest(f"no ranking {name!r}; there are: {', '.join(RANKINGS)}")
