"""search(query, k): from a snapshot of a corpus to documents with their best passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.documents import Hit, PassageHit
from indexing.errors import InvalidRequest
from indexing.snapshot import Snapshot
from indexing.store import Store
from retriever.dense import similarities
from retriever.filters import Filter, allowed
from retriever.fusion import RANKINGS, Ranking, fuse
from retriever.interaction import moving_average, sum_of_best
from retriever.lexical import document_scores, passage_scores
from retriever.query import Query
from retriever.repetition import repetition

FloatArray = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], FloatArray]
Parts = dict[str, FloatArray]


@dataclass(frozen=True)
class Scored:
    """Scores of everything in a corpus for one query, and what each part gave.

    Attributes:
        documents: (documents,) float32, -inf where a filter excludes it.
        passages: (passages,) float32, -inf likewise.
        document_parts: What each part gave to a document's score.
        passage_parts: What each part gave to a passage's score.
    """

    documents: FloatArray
    passages: FloatArray
    document_parts: Parts
    passage_parts: Parts


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
        scored = self.score(parsed, where=where)
        best = _top(scored.documents, k)
        return self._hits(scored, best, passages)

    def score(self, query: Query, *, where: Filter | None = None) -> Scored:
        """Score every document and passage that a filter admits."""
        mask = allowed(where or Filter(), self.store, self.snapshot)
        document_parts, passage_parts = self._parts(query, mask)
        documents, document_given = fuse(document_parts, self.ranking.documents)
        if "document" in self.ranking.passages:
            passage_parts["document"] = documents[self.snapshot.owner]
        passages, passage_given = fuse(_masked(passage_parts, mask), self.ranking.passages)
        lost = repetition(passages, self.snapshot.owner, weight=self.ranking.repetition)
        return Scored(
            documents, passages + lost, document_given, passage_given | {"repetition": lost}
        )

    def _parts(self, query: Query, mask: npt.NDArray[np.bool_] | None) -> tuple[Parts, Parts]:
        """Every part of the scores: of documents (documents,) and of passages (passages,)."""
        snapshot = self.snapshot
        vectors = self.embed([query.text, *query.sentences])
        dense = similarities(snapshot.passage_vectors, vectors, allowed=mask)
        lexical = passage_scores(snapshot, [query.text, *query.sentences])
        starts = np.searchsorted(snapshot.owner, np.arange(len(snapshot.document_rows)))
        bm25, bigram = document_scores(snapshot, query.text)
        admitted = np.ones(len(starts), np.bool_)
        if mask is not None:
            admitted = np.logical_or.reduceat(mask, starts)
        near = moving_average(lexical.passages, starts, snapshot.owner, reach=1)
        far = moving_average(lexical.passages[:1], starts, snapshot.owner, reach=3)
        documents = {
            "dense_document": similarities(snapshot.document_vectors, vectors[:1])[0],
            "dense_passages": sum_of_best(_only(dense[1:], mask), starts),
            "bm25_passages": sum_of_best(_only(lexical.passages[1:], mask), starts),
            "bm25_stretches": sum_of_best(_only(near[1:], mask), starts),
            "bigram_passages": sum_of_best(_only(lexical.passage_pairs[1:], mask), starts),
            "bm25_document": bm25,
            "bigram_document": bigram,
        }
        passages = {
            "dense": dense[0],
            "dense_surroundings": moving_average(dense[:1], starts, snapshot.owner, reach=3)[0],
            "bm25": lexical.passages[0],
            "bm25_near": near[0],
            "bm25_surroundings": far[0],
            "bigram": lexical.passage_pairs[0],
        }
        return _masked(documents, admitted), passages

    def _hits(self, scored: Scored, best: Sequence[int], passages: int) -> list[Hit]:
        snapshot = self.snapshot
        entries = self.store.documents_at([int(snapshot.document_rows[d]) for d in best])
        hits = []
        for position, entry in zip(best, entries, strict=True):
            own = np.flatnonzero(snapshot.owner == position)
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


def _only(scores: FloatArray, mask: npt.NDArray[np.bool_] | None) -> FloatArray:
    return scores if mask is None else np.where(mask, scores, np.float32(-np.inf))


def _masked(parts: Parts, mask: npt.NDArray[np.bool_] | None) -> Parts:
    return {name: _only(scores, mask) for name, scores in parts.items()}


def _at(parts: Parts, position: int) -> dict[str, float]:
    return {name: round(float(scores[position]), 4) for name, scores in parts.items()}
