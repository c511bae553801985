"""A query in, the best documents of a corpus out, in one piece or in shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from generator.instances.every import DEEPEST, DOCUMENTS, EveryRequest
from generator.request import AskRequest, Retrieval
from indexing.documents import Hit
from indexing.errors import ShardLost
from indexing.filter import Filter, Scope
from indexing.store.store import Store
from indexing.store.view import StoreView
from indexing.text.aliases import Aliases
from rag_app.corpus.contents.aliases import in_any_spelling, read_aliases
from rag_app.corpus.contents.document_names import document_named
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.models import Models
from rag_app.corpus.shards.manifest import MissingShards
from rag_app.corpus.shards.parts import CorpusParts, SearchRequest, ranking_named
from rag_app.corpus.stores import Stores
from retriever.fusion import CATCHES, EVIDENCE

if TYPE_CHECKING:
    from generator.answer import ContextEntry
    from rag_app.corpus.shards.missing import PartialHits
    from rag_app.corpus.shards.ray_cluster import RemoteShards
    from retriever.retriever import Retriever
    from retriever.similar_documents import SimilarDocument
    from retriever.spelling import Spelling

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Moment:
    """A corpus as all of one question sees it, whatever is written meanwhile."""

    store: Store  # its documents, in a read transaction
    parts: CorpusParts | RemoteShards  # what is published of it


@dataclass(frozen=True, slots=True)
class Search:
    """The search of a corpus."""

    stores: Stores  # its documents
    indexes: Indexes  # what is derived from them
    models: Models  # what encodes queries
    missing_shards: MissingShards  # what becomes of a question when a shard is lost
    folder: Path  # of the corpus

    @property
    def aliases(self) -> Aliases:
        """Names with their other spellings, as they are now."""
        return read_aliases(self.folder)

    def hits(self, request: SearchRequest, scope: Scope) -> list[Hit]:
        """The best documents; it fails where a shard is lost."""
        request = self._spelled(request)
        with self.indexes.parts(request.where, scope) as parts:
            return self._hits(parts, request)

    def partial(self, request: SearchRequest, scope: Scope) -> PartialHits:
        """The best documents, and which lost shards were left out, if they may be."""
        from rag_app.corpus.shards.missing import PartialHits

        request = self._spelled(request)
        with self._moment(request.where, scope) as moment:
            hits = self._hits(moment.parts, request)
            return PartialHits(hits, _ledger_of_lost(moment, request.where, scope))

    def at_one_moment(self, where: Filter, scope: Scope, read: Callable[[Moment], Read]) -> Read:
        """What somebody reads of the corpus as it is at one moment.

        Args:
            where: Limits by collection.
            scope: What may be read.
            read: Reads it; asked again, of a later moment, where a shard was lost on the way that
                may be left out.
        """
        try:
            with self._moment(where, scope) as moment:
                return read(moment)
        except ShardLost:
            if self.missing_shards == "fail":
                raise
            # It had hits, and is known to be lost by now.
            with self._moment(where, scope) as moment:
                return read(moment)

    def evidence(
        self, request: AskRequest, scope: Scope, moment: Moment
    ) -> tuple[Retrieval, tuple[ContextEntry, ...]]:
        """The hits for a request's query, and their documents.

        Beside them a line of the ledger for each lost shard that was left out.
        """
        parts, where = moment.parts, request.where
        query = request.aliases.expanded(request.query)
        passages = self.models.generator_settings.passages
        wanted = SearchRequest(query, request.k, passages, where, EVIDENCE)
        hits = self._hits(parts, wanted)
        documents = {hit.document: parts.document(hit.document) for hit in hits}

        def picture(document: str, key: str) -> bytes:
            with self.stores.reading() as store:
                return store.limited(where, scope).pictures.figure(document, key)

        retrieval = Retrieval(hits, documents.__getitem__, picture=picture)
        return retrieval, _ledger_of_lost(moment, where, scope)

    def catches(self, request: EveryRequest, moment: Moment) -> dict[str, list[Hit]]:
        """The passages that words find, and those that vectors find, by the names of `CATCHES`."""
        from rag_app.requests.mentions import asked_in

        query = self.aliases.expanded(asked_in(request.question))
        return {
            name: self._hits(
                moment.parts, SearchRequest(query, DOCUMENTS, DEEPEST, request.where, name)
            )
            for name in CATCHES
        }

    @contextmanager
    def retriever(self, ranking: str, scope: Scope) -> Iterator[Retriever]:
        """What scores a corpus in one piece, as it is at one moment."""
        from retriever.retriever import Retriever

        features = ranking_named(ranking)
        with self.stores.reading() as store:
            embed = self.models.query_encoder(store.fingerprint()).encode_queries
            limited, snapshot = store.limited(None, scope), self.indexes.snapshot(store)
            yield Retriever(limited, snapshot, embed, features)

    def similar(
        self, name: str, k: int, where: Filter | None, scope: Scope
    ) -> list[SimilarDocument]:
        """The documents that are most similar to the one of a name, best first."""
        with self.indexes.local_parts(where, scope) as parts, self.stores.reading() as store:
            id_ = document_named(name, store.limited(where, scope))
            return parts.similar(id_, k=k, where=where)

    def spelling(self, store: StoreView) -> Spelling | None:
        """The spelling of documents; None for those in shards, whose words are not in one place."""
        from retriever.spelling import Spelling

        if self.indexes.manifest is not None:
            return None
        return Spelling(store, self.indexes.snapshot(self.stores.connection()))

    def _spelled(self, request: SearchRequest) -> SearchRequest:
        """A search with the other spellings of its names."""
        if not (aliases := self.aliases):
            return request
        query = aliases.expanded(aliases.named(request.query))
        return replace(request, query=query, where=in_any_spelling(request.where, aliases))

    def _hits(self, parts: CorpusParts | RemoteShards, request: SearchRequest) -> list[Hit]:
        encoder = self.models.query_encoder(self.stores.connection().fingerprint())
        return parts.search(request, encoder.encode_queries)

    @contextmanager
    def _moment(self, where: Filter | None, scope: Scope) -> Iterator[Moment]:
        missing = self.missing_shards
        with (
            self.stores.reading() as store,
            self.indexes.parts(where, scope, missing=missing) as parts,
        ):
            yield Moment(store, parts)


def _ledger_of_lost(moment: Moment, where: Filter | None, scope: Scope) -> tuple[ContextEntry, ...]:
    """Lines of the ledger for the lost shards that a search left out."""
    if not moment.parts.lost:
        return ()
    from rag_app.corpus.shards.missing import ledger_lines

    entries = moment.store.limited(where, scope).entries()
    return ledger_lines(moment.parts.lost, moment.parts.names, entries)
