"""Scores of the documents that can win, where a corpus is too large to score everything.

Known of everything, exactly: BM25 in all its parts, and how much each of them varies. From FAISS:
the LARGE_DEPTH passages most similar to each sentence. A passage further down counts as similar as
the last one found, which is no less than it is; the documents that are best by this are the
candidates. Exact again, for them: the similarity of every passage. Estimated, on documents picked
at even distances: how much similarity varies over the corpus, which is what its weight is measured
in.

So a document can be lost only if it is no candidate or FAISS missed its passages, and the scores of
what is returned differ from those of full scoring by the estimate alone. tests/retriever compares
the two; docs/benchmarks.md says how often the same documents win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from retriever.dense import LARGE_DEPTH
from retriever.diversity import repetition
from retriever.features import Parts, only
from retriever.fusion import Given, Ranking, Scored, Spread, scaled
from retriever.late_interaction import means_in_a_row, moving_average, sum_of_best
from retriever.lexical import passage_pairs, passage_stems

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

CANDIDATES = 16384  # passages of candidates, about
FEWEST = 32  # documents among them, however long they are
SAMPLE = 16384  # passages, about, of the documents that tell how much similarity varies
FEWEST_SAMPLED = 8


@dataclass(frozen=True)
class Selection:
    """Some documents with all their passages, side by side.

    Attributes:
        documents: (c,) which documents.
        spans: (c, 2) position of each one's first passage in the corpus, and after its last.
        places: (p,) position of each passage in the corpus.
        starts: (c,) where each document's passages begin here.
        owner: (p,) which of the c documents each passage is of.
    """

    documents: IntArray
    spans: IntArray
    places: IntArray
    starts: IntArray
    owner: IntArray

    @classmethod
    def of(cls, documents: IntArray, bounds: IntArray) -> Selection:
        """Documents by number; `bounds` (documents + 1,) is where their passages begin."""
        spans = np.stack((bounds[documents], bounds[documents + 1]), axis=1)
        lengths = spans[:, 1] - spans[:, 0]
        starts = np.cumsum(lengths) - lengths
        owner = np.repeat(np.arange(len(documents)), lengths)
        places = np.arange(len(owner)) - starts[owner] + spans[owner, 0]
        return cls(documents, spans, places, starts, owner)


def score_candidates(parts: Parts, ranking: Ranking, *, least: int) -> Scored:
    """Scores of at least so many of the best documents, and of their passages; -inf for others.

    Args:
        parts: Of a snapshot whose passages are in a large index.
        ranking: Which parts count.
        least: How many documents are wanted.
    """
    documents, passages = len(parts.starts), len(parts.snapshot.owner)
    if parts.allowed is not None and not parts.allowed.any():
        nothing = np.full(documents, -np.inf, np.float32), np.full(passages, -np.inf, np.float32)
        return Scored(*nothing, {}, {})
    work = _Work(parts, ranking)
    chosen = work.candidates(least)
    of_documents, of_passages = work.given(chosen, work.similar(chosen))
    total = _total(of_passages)
    owner = chosen.documents[chosen.owner]
    deviation = work.passage_spread.deviation if ranking.repetition else None
    lost = repetition(total, owner, weight=ranking.repetition, deviation=deviation)
    of_passages["repetition"] = lost
    return Scored(
        _placed(_total(of_documents), chosen.documents, documents),
        _placed(total + lost, chosen.places, passages),
        {name: _placed(one, chosen.documents, documents) for name, one in of_documents.items()},
        {name: _placed(one, chosen.places, passages) for name, one in of_passages.items()},
    )


@dataclass(frozen=True)
class _Work:
    """What scoring some documents for one query needs of all the others."""

    parts: Parts
    ranking: Ranking

    # Choosing

    def candidates(self, least: int) -> Selection:
        """The documents that are best where similarity is rated too high rather than too low."""
        scores = self.known_documents
        if "dense_passages" in self.ranking.documents:
            weight = self.ranking.documents["dense_passages"]
            scores = scores + weight * self.similarity_spread.over(self.bound)
        best = _best(only(scores, self.parts.admitted), max(CANDIDATES, least))
        lengths = self.bounds[best + 1] - self.bounds[best]
        fitting = int(np.searchsorted(np.cumsum(lengths), CANDIDATES, side="right"))
        return Selection.of(best[: max(fitting, least, FEWEST)], self.bounds)

    @cached_property
    def found(self) -> tuple[FloatArray, IntArray]:
        """(q, k) the most similar passages of each text, and their positions."""
        index = self.parts.snapshot.passage_vectors
        return index.search(self.parts.vectors, LARGE_DEPTH, allowed=self.parts.allowed)

    @cached_property
    def bound(self) -> FloatArray:
        """(documents,) at least each sentence's most similar passage, summed."""
        owner = self.parts.snapshot.owner
        total = np.zeros(len(self.parts.starts), np.float32)
        for scores, places in zip(self.found[0][1:], self.found[1][1:], strict=True):
            there = places >= 0
            best = np.full(len(total), scores[there].min(initial=1.0), np.float32)
            np.maximum.at(best, owner[places[there]], scores[there])
            total += best
        return only(total, self.parts.admitted)

    @cached_property
    def bounds(self) -> IntArray:
        """(documents + 1,) where the passages of each document begin."""
        return np.append(self.parts.starts, len(self.parts.snapshot.owner))

    # Scoring what was chosen

    def similar(self, chosen: Selection) -> FloatArray:
        """(q, p) similarity of each text with each passage, where the ranking looks at any."""
        names = {*self.ranking.documents, *self.ranking.passages}
        if names.isdisjoint({"dense_passages", *SIMILAR_PASSAGES}):
            return np.zeros((0, len(chosen.places)), np.float32)
        spans = [(int(first), int(last)) for first, last in chosen.spans]
        return self.parts.snapshot.passage_vectors.products(self.parts.vectors, spans)

    def given(self, chosen: Selection, similar: FloatArray) -> tuple[Given, Given]:
        """What each part gives to the scores of documents (c,) and of passages (p,)."""
        of_documents = self.of_documents(chosen, similar)
        documents = _total(of_documents)
        of_passages = {}
        for name, weight in self.ranking.passages.items():
            if name == "document":
                scores = self.document_spread.over(documents[chosen.owner])
            elif name in SIMILAR_PASSAGES:
                scores = SIMILAR_PASSAGES[name](similar, chosen)
                scores = self.sampled_spreads[name].over(scores)
            else:
                scores = self.known_parts[name][chosen.places]
            of_passages[name] = only(weight * scores, self._allowed(chosen))
        return of_documents, of_passages

    def of_documents(self, chosen: Selection, similar: FloatArray) -> Given:
        """What each part gives to the scores of documents (c,)."""
        given = {}
        for name, weight in self.ranking.documents.items():
            if name == "dense_passages":
                best = self._most_similar(chosen, similar)
                given[name] = weight * self.similarity_spread.over(best)
            else:
                given[name] = weight * self.known_document_parts[name][chosen.documents]
        return given

    def _most_similar(self, chosen: Selection, similar: FloatArray) -> FloatArray:
        """(c,) each sentence's most similar passage, summed."""
        return sum_of_best(only(similar[1:], self._allowed(chosen)), chosen.starts)

    def _allowed(self, chosen: Selection) -> npt.NDArray[np.bool_] | None:
        return None if self.parts.allowed is None else self.parts.allowed[chosen.places]

    # Known of everything

    @cached_property
    def known_document_parts(self) -> Given:
        """(documents,) scaled, all but the similarity of passages."""
        names = (name for name in self.ranking.documents if name != "dense_passages")
        masked = ((name, only(KNOWN_DOCUMENTS[name](self), self.parts.admitted)) for name in names)
        return {name: scaled(name, scores) for name, scores in masked}

    @cached_property
    def known_documents(self) -> FloatArray:
        """(documents,) their weighted sum."""
        total = np.zeros(len(self.parts.starts), np.float32)
        for name, scores in self.known_document_parts.items():
            total += self.ranking.documents[name] * scores
        return total

    @cached_property
    def known_parts(self) -> Given:
        """(passages,) scaled, all but similarity."""
        names = (name for name in self.ranking.passages if name in KNOWN_PASSAGES)
        masked = ((name, only(KNOWN_PASSAGES[name](self), self.parts.allowed)) for name in names)
        return {name: scaled(name, scores) for name, scores in masked}

    @cached_property
    def known_passages(self) -> FloatArray:
        """(passages,) their weighted sum, with what is known of their documents."""
        total = np.zeros(len(self.parts.snapshot.owner), np.float32)
        if "document" in self.ranking.passages:
            known = self.document_spread.over(self.known_documents)
            total += self.ranking.passages["document"] * known[self.parts.snapshot.owner]
        for name, scores in self.known_parts.items():
            total += self.ranking.passages[name] * scores
        return total

    @cached_property
    def stems(self) -> FloatArray:
        """(passages,) BM25 of the whole query's stems."""
        return self._stems(self.parts.query.text)

    @cached_property
    def pairs(self) -> FloatArray:
        """(passages,) BM25 of its pairs of stems."""
        return self._pairs(self.parts.query.text)

    @cached_property
    def by_sentence(self) -> Given:
        """(documents,) each sentence's best passage or stretch by BM25, summed."""
        parts = self.parts
        totals = {name: np.zeros(len(parts.starts), np.float32) for name in BY_WORDS}
        for text in parts.query.sentences:
            whole = text == parts.query.text
            stems = self.stems if whole else self._stems(text)
            scores = stems, self.in_a_row(stems, 1), self.pairs if whole else self._pairs(text)
            for name, each in zip(BY_WORDS, scores, strict=True):
                totals[name] += sum_of_best(only(each, parts.allowed)[None], parts.starts)
        return totals

    def _stems(self, text: str) -> FloatArray:
        return np.asarray(passage_stems(self.parts.snapshot, [text])[0])

    def _pairs(self, text: str) -> FloatArray:
        return np.asarray(passage_pairs(self.parts.snapshot, [text])[0])

    def in_a_row(self, scores: FloatArray, reach: int) -> FloatArray:
        """(passages,) means with so many neighbours of the same document on either side."""
        return means_in_a_row(scores, self.parts.snapshot.beside, reach=reach)

    # Estimated

    @cached_property
    def sample(self) -> tuple[Selection, FloatArray]:
        """Documents at even distances, and the similarity (q, p) of their passages."""
        admitted = self.parts.admitted
        every = np.arange(len(self.parts.starts)) if admitted is None else np.flatnonzero(admitted)
        count = round(SAMPLE * len(self.parts.starts) / len(self.parts.snapshot.owner))
        count = min(len(every), max(count, FEWEST_SAMPLED))
        picked = Selection.of(every[np.linspace(0, len(every) - 1, count).astype(int)], self.bounds)
        return picked, self.similar(picked)

    @cached_property
    def similarity_spread(self) -> Spread:
        """Of each sentence's most similar passage, summed, over documents."""
        picked, similar = self.sample
        whole = self._most_similar(picked, similar)
        return _estimated(self.bound, self.bound[picked.documents], whole)

    @cached_property
    def sampled_spreads(self) -> dict[str, Spread]:
        """Of the parts of passages that are similarities."""
        picked, similar = self.sample
        parts = {name: part(similar, picked) for name, part in SIMILAR_PASSAGES.items()}
        return {name: Spread.of(only(s, self._allowed(picked))) for name, s in parts.items()}

    @cached_property
    def document_spread(self) -> Spread:
        """Of the scores of documents, over passages."""
        picked, similar = self.sample
        known = only(self.known_documents[self.parts.snapshot.owner], self.parts.allowed)
        whole = _total(self.of_documents(picked, similar))[picked.owner]
        return _estimated(known, known[picked.places], only(whole, self._allowed(picked)))

    @cached_property
    def passage_spread(self) -> Spread:
        """Of the scores of passages."""
        picked, similar = self.sample
        known = only(self.known_passages, self.parts.allowed)
        return _estimated(known, known[picked.places], _total(self.given(picked, similar)[1]))


BY_WORDS = ("bm25_passages", "bm25_stretches", "bigram_passages")

KNOWN_DOCUMENTS: Mapping[str, Callable[[_Work], FloatArray]] = {
    "dense_document": lambda w: w.parts.of_documents("dense_document"),
    "bm25_document": lambda w: w.parts.of_documents("bm25_document"),
    "bigram_document": lambda w: w.parts.of_documents("bigram_document"),
    "speakers": lambda w: w.parts.of_documents("speakers"),
    "bm25_passages": lambda w: w.by_sentence["bm25_passages"],
    "bm25_stretches": lambda w: w.by_sentence["bm25_stretches"],
    "bigram_passages": lambda w: w.by_sentence["bigram_passages"],
}

KNOWN_PASSAGES: Mapping[str, Callable[[_Work], FloatArray]] = {
    "bm25": lambda w: w.stems,
    "bm25_near": lambda w: w.in_a_row(w.stems, 1),
    "bm25_surroundings": lambda w: w.in_a_row(w.stems, 3),
    "bigram": lambda w: w.pairs,
    "speakers": lambda w: w.parts.spoken,
}

SIMILAR_PASSAGES: Mapping[str, Callable[[FloatArray, Selection], FloatArray]] = {
    "dense": lambda similar, _: similar[0],
    "dense_surroundings": lambda similar, chosen: moving_average(
        similar[:1], chosen.starts, chosen.owner, reach=3
    )[0],
}


def _total(given: Given) -> FloatArray:
    return np.asarray(sum(given.values()), np.float32)


def _estimated(known: FloatArray, part: FloatArray, whole: FloatArray) -> Spread:
    """The spread of something that is known roughly for all and exactly for a sample.

    The sample gives the difference alone (Cochran, Sampling Techniques, 1977, section 7): what
    stands out, such as a rare word, is seldom in the sample, but it is in what is known.

    Args:
        known: (n,) roughly.
        part: (p,) roughly, of the sample.
        whole: (p,) exactly, of the sample.
    """
    every, some, exact = Spread.of(known), Spread.of(part), Spread.of(whole)
    variance = every.deviation**2 + exact.deviation**2 - some.deviation**2
    least = 0.01 * max(every.deviation, exact.deviation) ** 2
    mean = every.mean + exact.mean - some.mean
    return Spread(np.float32(mean), np.float32(np.sqrt(max(variance, least))))


def _best(scores: FloatArray, most: int) -> IntArray:
    """Positions of the best finite scores, best first; equal ones in order of position."""
    if most < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, -most)[-most])
    else:
        places = np.arange(len(scores))
    order = places[np.argsort(-scores[places], kind="stable")]
    return order[np.isfinite(scores[order])]


def _placed(scores: FloatArray, places: IntArray, count: int) -> FloatArray:
    """(count,) with the scores in their places, -inf elsewhere."""
    whole = np.full(count, -np.inf, np.float32)
    whole[places] = scores
    return whole
