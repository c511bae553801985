"""search(query, k): from a snapshot of a corpus to documents with their best passages.

A corpus may be one part, or several with a snapshot each (shards): scoring goes in rounds
(`retriever.rounds`), and gives the same ids, order and scores for any number of parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from indexing.documents import Document, Hit, PassageHit, is_named, near
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from indexing.index.snapshot import Snapshot
from indexing.store.view import StoreView
from retriever.candidates import score_candidates
from retriever.diversity import RankedPassages
from retriever.features import UNSCALED, Embed, Features, by_sentence, mask_out
from retriever.filters import passage_mask
from retriever.fusion import RANKINGS, Ranking, ScoreParts, Scores, Spread, fuse
from retriever.order import best
from retriever.query import Query
from retriever.rounds.moments import Spreads
from retriever.rounds.query_words import query_words
from retriever.rounds.rounds import Rounds, Share, exchange, run_together

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BestDocuments(Share["BestDocuments"]):
    """The best documents of one part of a corpus."""

    most: int  # how many are wanted
    scores: FloatArray  # (k,) finite, best first; ties broken by row
    rows: npt.NDArray[np.int64]  # (k,) of documents, the same in every part

    def merge(self, others: Sequence[BestDocuments]) -> BestDocuments:
        """The best of all parts."""
        every = (self, *others)
        scores = np.concatenate([one.scores for one in every])
        rows = np.concatenate([one.rows for one in every])
        best = np.lexsort((rows, -scores))[: self.most]
        return BestDocuments(self.most, scores[best], rows[best])


@dataclass(frozen=True)
class Retriever:
    """Documents and passages for queries, over one snapshot."""

    store: StoreView  # where the text is
    snapshot: Snapshot  # what is searched; its generation is the store's
    embed: Embed  # queries (q) to unit vectors (q, d) float32
    ranking: Ranking = RANKINGS["default"]  # which features count, and how much

    def search(
        self, query: str, *, k: int = 5, passages: int = 3, where: Filter | None = None
    ) -> list[Hit]:
        """The k best documents, best first, each with its best passages, best first.

        Raises:
            InvalidRequest: An empty query, or k or passages below 1.
        """
        return search([self], query, k=k, passages=passages, where=where)

    def score(self, query: Query, *, where: Filter | None = None, least: int = 1) -> Scores:
        """Score every document and passage that a filter admits.

        In a large corpus (`FaissIndex.is_approximate`) only the best documents and their passages,
        but at least so many as asked for: `retriever.candidates` says what is exact there.
        """
        (scores,) = run_together([self._score(query, where, least)])
        return scores

    def hits(
        self, query: Query, *, k: int, passages: int, where: Filter | None
    ) -> Rounds[dict[int, Hit]]:
        """Those of the k best documents of all parts that are in this one, by their rank."""
        scores = yield from self._score(query, where, k)
        own = best(scores.documents, k)
        rows = self.snapshot.document_rows
        found = yield from exchange(BestDocuments(k, scores.documents[own], rows[own]))
        rank = {int(row): at for at, row in enumerate(found.rows)}
        chosen = [int(position) for position in own if int(rows[position]) in rank]
        speaker = where.speaker if where else None
        hits = self._hits(scores, chosen, passages, self.store.in_collections(where), speaker)
        return {rank[int(rows[at])]: hit for at, hit in zip(chosen, hits, strict=True)}

    def _score(self, query: Query, where: Filter | None, least: int) -> Rounds[Scores]:
        filter_, limited = where or Filter(), self.store.in_collections(where)
        mask = yield from passage_mask(filter_, limited, self.snapshot)
        snapshot = self.snapshot
        sentences = by_sentence(self.ranking.documents)
        features = Features(snapshot, query, self.embed, mask, sentences)
        if snapshot.passage_vectors.is_approximate:
            return (yield from score_candidates(features, self.ranking, least=least))
        features.words = yield from query_words(snapshot, query)
        return (yield from _score_all(features, self.ranking))

    def _hits(
        self,
        scores: Scores,
        found: Sequence[int],
        passages: int,
        store: StoreView,
        speaker: str | None,
    ) -> list[Hit]:
        snapshot = self.snapshot
        entries = store.documents_at([int(snapshot.document_rows[d]) for d in found])
        hits = []
        for position, entry in zip(found, entries, strict=True):
            first, last = snapshot.bounds[position : position + 2].tolist()
            own = np.arange(first, last)
            selection = [int(own[i]) for i in best(scores.passages[own], passages)]
            hits.append(
                Hit(
                    document=entry.id,
                    title=entry.title,
                    path=entry.path,
                    part=entry.part,
                    score=float(scores.documents[position]),
                    passages=self._passages(entry.id, scores, selection, speaker),
                    parts=scores.document_parts.at(position),
                    day=entry.day,
                )
            )
        return hits

    def _passages(
        self, document: str, scores: Scores, positions: Sequence[int], speaker: str | None
    ) -> tuple[PassageHit, ...]:
        rows = self.snapshot.rows_of_passages(np.array(positions, np.int64))
        stored = self.store.passages_at(rows.tolist())
        numbers = {passage.page for passage, _ in stored if passage.page is not None}
        places = self.store.places_of_pages(document, numbers)
        figures = self.store.figures_of(document)
        hits = (
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
                parts=scores.passage_parts.at(position),
            )
            for position, (passage, text) in zip(positions, stored, strict=True)
        )
        if speaker is None:
            return tuple(hits)
        whole = self.store.document(document)
        return tuple(_of_speaker(one, whole, speaker) for one in hits)


def _of_speaker(passage: PassageHit, document: Document, name: str) -> PassageHit:
    """A passage as one of a person's words: theirs marked, their time, their name first."""
    said = document.spoken_by(name, passage.start, passage.end)
    timed = (one.time for one in said if one.time is not None)
    return replace(
        passage,
        utterances=said,
        time=next(timed, None),
        speakers=tuple(sorted(passage.speakers, key=lambda one: not is_named(one, name))),
    )


def search(
    parts: Sequence[Retriever], query: str, *, k: int, passages: int, where: Filter | None
) -> list[Hit]:
    """As `Retriever.search`, over a corpus in several parts; those without documents may be there.

    No document is in two, and each one's row is its own in all.
    """
    if k < 1 or passages < 1:
        raise InvalidRequest("ask for at least one document and one passage")
    parsed = Query.of(query)
    runs = [
        part.hits(parsed, k=k, passages=passages, where=where)
        for part in parts
        if part.snapshot.passages
    ]
    ranked = (
        {rank: hit for hits in run_together(runs) for rank, hit in hits.items()} if runs else {}
    )
    return [ranked[rank] for rank in sorted(ranked)]


def _score_all(features: Features, ranking: Ranking) -> Rounds[Scores]:
    """Scores of every document and passage of one part."""
    snapshot, mask = features.snapshot, features.allowed
    of_documents = {name: features.of_documents(name) for name in ranking.documents}
    of_passages = {n: features.of_passages(n) for n in ranking.passages if n != "document"}
    scaled = {("document", n): v for n, v in of_documents.items() if n not in UNSCALED}
    scaled |= {("passage", n): v for n, v in of_passages.items() if n not in UNSCALED}
    every = yield from exchange(Spreads.of(scaled))
    documents, document_parts = fuse(of_documents, ranking.documents, _of("document", every))
    spreads = _of("passage", every)
    if "document" in ranking.passages:
        of_passages["document"] = mask_out(documents[snapshot.owner], mask)
        spreads |= yield from exchange(Spreads.of({"document": of_passages["document"]}))
    passages, passage_parts = fuse(of_passages, ranking.passages, spreads)
    penalty = np.zeros(len(passages), np.float32)
    if ranking.repetition:
        rows = snapshot.document_rows[snapshot.owner]
        whole = yield from exchange(Spreads.of({"passages": passages}))
        ranks = yield from exchange(RankedPassages.of(passages, rows))
        deviation = whole["passages"].deviation
        penalty = ranks.penalty(rows, weight=ranking.repetition, deviation=deviation)
    passage_parts["repetition"] = penalty
    return Scores(
        documents, passages + penalty, ScoreParts(document_parts), ScoreParts(passage_parts)
    )


def _of(kind: str, spreads: Mapping[tuple[str, str], Spread]) -> dict[str, Spread]:
    return {name: spread for (which, name), spread in spreads.items() if which == kind}
