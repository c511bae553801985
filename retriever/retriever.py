"""search(query, k): from a snapshot of a corpus to documents with their best passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.documents import Hit, PassageHit, near
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from retriever.candidates import score_candidates
from retriever.diversity import repetition_penalty
from retriever.features import UNSCALED, Embed, Features, by_sentence, mask_out
from retriever.filters import passage_mask
from retriever.fusion import RANKINGS, Contributions, Ranking, Scores, fuse
from retriever.query import Query

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Retriever:
    """Documents and passages for queries, over one snapshot.

    Attributes:
        store: Where the text is.
        snapshot: What is searched; its generation is the store's.
        embed: Queries (q) to unit vectors (q, d) float32.
        ranking: Which features count, and how much.
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
        scores = self.score(parsed, where=where, least=k)
        best = _top(scores.documents, k)
        return self._hits(scores, best, passages, self.store.limited(where))

    def score(self, query: Query, *, where: Filter | None = None, least: int = 1) -> Scores:
        """Score every document and passage that a filter admits.

        In a large corpus (`FaissIndex.is_approximate`) only the best documents and their passages,
        but at least so many as asked for: `retriever.candidates` says what is exact there.
        """
        mask = passage_mask(where or Filter(), self.store.limited(where), self.snapshot)
        ranking, owner = self.ranking, self.snapshot.owner
        sentences = by_sentence(ranking.documents)
        features = Features(self.snapshot, query, self.embed, mask, by_sentence=sentences)
        if self.snapshot.passage_vectors.is_approximate:
            return score_candidates(features, ranking, least=least)
        documents, of_documents = fuse(
            {name: features.of_documents(name) for name in ranking.documents},
            ranking.documents,
            unscaled=UNSCALED,
        )
        values = {
            name: mask_out(documents[owner], mask)
            if name == "document"
            else features.of_passages(name)
            for name in ranking.passages
        }
        passages, of_passages = fuse(values, ranking.passages, unscaled=UNSCALED)
        penalty = repetition_penalty(passages, owner, weight=ranking.repetition)
        of_passages["repetition"] = penalty
        return Scores(documents, passages + penalty, of_documents, of_passages)

    def _hits(self, scores: Scores, best: Sequence[int], passages: int, store: Store) -> list[Hit]:
        snapshot = self.snapshot
        entries = store.documents_at([int(snapshot.document_rows[d]) for d in best])
        hits = []
        for position, entry in zip(best, entries, strict=True):
            first, last = np.searchsorted(snapshot.owner, [position, position + 1])
            own = np.arange(first, last)
            selection = [int(own[i]) for i in _top(scores.passages[own], passages)]
            hits.append(
                Hit(
                    document=entry.id,
                    title=entry.title,
                    path=entry.path,
                    part=entry.part,
                    score=float(scores.documents[position]),
                    passages=self._passages(entry.id, scores, selection),
                    parts=_at(scores.document_contributions, position),
                    day=entry.day,
                )
            )
        return hits

    def _passages(
        self, document: str, scores: Scores, positions: Sequence[int]
    ) -> tuple[PassageHit, ...]:
        stored = self.store.passages_at([int(self.snapshot.passage_rows[p]) for p in positions])
        numbers = {passage.page for passage, _ in stored if passage.page is not None}
        places = self.store.places_of_pages(document, numbers)
        figures = self.store.figures_of(document)
        return tuple(
            PassageHit(
                start=passage.start,
                end=passage.end,
                text=text,
                score=float(scores.passages[position]),
                speakers=passage.speakers,
                time=passage.time,
                page=passage.page,
                place=places.get(passage.page) if passage.page is not None else None,
                figures=tuple(
                    one.label for one in near(figures, passage.start, passage.end, {passage.page})
                ),
                parts=_at(scores.passage_contributions, position),
            )
            for position, (passage, text) in zip(positions, stored, strict=True)
        )


def _top(scores: FloatArray, k: int) -> list[int]:
    """Positions of the k best finite scores, best first; ties broken by position."""
    order = np.argsort(-scores, kind="stable")[:k]
    return [int(i) for i in order if np.isfinite(scores[i])]


def _at(contributions: Contributions, position: int) -> dict[str, float]:
    return {name: round(float(each[position]), 4) for name, each in contributions.items()}
