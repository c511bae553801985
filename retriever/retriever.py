"""search(query, k): from a snapshot of a corpus to documents with their best passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.documents import Hit, PassageHit
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from retriever.candidates import score_candidates
from retriever.diversity import repetition
from retriever.features import Embed, Parts, only
from retriever.filters import allowed
from retriever.fusion import RANKINGS, Given, Ranking, Scored, fuse
from retriever.query import Query

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Retriever:
    """Documents and passages for queries, over one snapshot.

    Attributes:
        store: Where the text is.
        snapshot: What is searched; its generation is the store's.
        embed: Queries (q) to unit vectors (q, d) float32.
        ranking: Which parts count, and how much.
    """

    store: Store
    snapshot: Snapshot
    embed: Embed
    ranking: Ranking = RANKINGS["default"]

    def search(
        self, query: str, *, k: int = 5, passages: int = 3, where: Filter | None = None
    ) -> list[Hit]:
        """The k best documents, best first, each with its best passages, best first.

        Raises:
            InvalidRequest: An empty query, or k or passages below 1.
        """
        if k < 1 or passages < 1:
            raise InvalidRequest("ask for at least one document and one passage")
        parsed = Query.of(query)
        if not len(self.snapshot.owner):
            return []
        scored = self.score(parsed, where=where, least=k)
        best = _top(scored.documents, k)
        return self._hits(scored, best, passages)

    def score(self, query: Query, *, where: Filter | None = None, least: int = 1) -> Scored:
        """Score every document and passage that a filter admits.

        In a large corpus (`VectorIndex.large`) only the best documents and their passages, but at
        least so many as asked for: `retriever.candidates` says what is exact there.
        """
        mask = allowed(where or Filter(), self.store, self.snapshot)
        ranking = self.ranking
        parts = Parts(self.snapshot, query, self.embed, mask, by_sentence=ranking.by_sentence)
        if self.snapshot.passage_vectors.large:
            return score_candidates(parts, ranking, least=least)
        documents, document_given = fuse(
            {name: parts.of_documents(name) for name in ranking.documents}, ranking.documents
        )
        of_passages = {
            name: only(documents[self.snapshot.owner], mask)
            if name == "document"
            else parts.of_passages(name)
            for name in ranking.passages
        }
        passages, passage_given = fuse(of_passages, ranking.passages)
        lost = repetition(passages, self.snapshot.owner, weight=ranking.repetition)
        return Scored(
            documents, passages + lost, document_given, passage_given | {"repetition": lost}
        )

    def _hits(self, scored: Scored, best: Sequence[int], passages: int) -> list[Hit]:
        snapshot = self.snapshot
        entries = self.store.documents_at([int(snapshot.document_rows[d]) for d in best])
        hits = []
        for position, entry in zip(best, entries, strict=True):
            first, last = np.searchsorted(snapshot.owner, [position, position + 1])
            own = np.arange(first, last)
            chosen = [int(own[i]) for i in _top(scored.passages[own], passages)]
            hits.append(
                Hit(
                    document=entry.id,
                    title=entry.title,
                    path=entry.path,
                    part=entry.part,
                    score=float(scored.documents[position]),
                    passages=self._passages(scored, chosen),
                    parts=_at(scored.document_parts, position),
                )
            )
        return hits

    def _passages(self, scored: Scored, chosen: Sequence[int]) -> tuple[PassageHit, ...]:
        stored = self.store.passages_at([int(self.snapshot.passage_rows[p]) for p in chosen])
        return tuple(
            PassageHit(
                start=passage.start,
                end=passage.end,
                text=text,
                score=float(scored.passages[position]),
                speakers=passage.speakers,
                time=passage.time,
                page=passage.page,
                parts=_at(scored.passage_parts, position),
            )
            for position, (passage, text) in zip(chosen, stored, strict=True)
        )


def _top(scores: FloatArray, k: int) -> list[int]:
    """Positions of the k best finite scores, best first; equal ones in order of position."""
    order = np.argsort(-scores, kind="stable")[:k]
    return [int(i) for i in order if np.isfinite(scores[i])]


def _at(parts: Given, position: int) -> dict[str, float]:
    return {name: round(float(scores[position]), 4) for name, scores in parts.items()}
