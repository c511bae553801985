"""Scores of the documents that can win, where a corpus is too large to score everything.

Known of everything, exactly: every feature that does not rest on the similarity of passages, and
how much it varies. From FAISS: the LARGE_DEPTH passages whose codes are most similar to each
sentence, with the similarity that these codes give. A passage further down counts as similar as
the last one found; the documents that are best by that are the candidates. Exact again, for them:
the similarity of every passage. Estimated, on documents picked at even distances: how much
similarity varies over the corpus, which is what its weight is measured in.

So a document can be lost only if codes mistake its passages, or if it is too far down to be a
candidate, and the scores of what is returned differ from those of full scoring by the estimate
alone. tests/retriever compares the two; docs/notebook/benchmarks.md says how often the same
documents win.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.index.dense.faiss_index import search_in_one_thread
from indexing.index.sample import Sample
from indexing.index.selection import Selection
from retriever.diversity import RankedPassages
from retriever.exact_features import ExactFeatures
from retriever.features import (
    DOCUMENT_FEATURES,
    LARGE_DEPTH,
    PASSAGE_FEATURES,
    Features,
    SentenceMax,
    WholeQuery,
    is_dense,
    mask_out,
)
from retriever.fusion import Contributions, Ranking, ScoreParts, Scores, Spread
from retriever.late_interaction import sum_of_best
from retriever.order import best
from retriever.rounds.query_words import query_words
from retriever.rounds.rounds import Rounds

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

CANDIDATES = 4096  # passages of candidates, about
FEWEST = 32  # documents among them, however long they are


def score_candidates(features: Features, ranking: Ranking, *, least: int) -> Rounds[Scores]:
    """Score at least so many of the best documents, and their passages; -inf for others.

    Vectors are compared in a thread beside the one in which words are looked up: both take long.
    What compares vectors, and adds up rows of all passages, are a few long calls that leave Python
    to others; words are many short ones. Two threads of these would wait for each other.
    """
    documents, passages = len(features.starts), features.snapshot.passages
    scorer = _CandidateScorer(features, ranking, ExactFeatures(features, ranking))
    with ThreadPoolExecutor(1, initializer=search_in_one_thread) as pool:
        comparing = scorer.compare(pool)
        features.words = yield from query_words(features.snapshot, features.query)
        if features.allowed is not None and not features.allowed.any():
            nothing = (
                np.full(documents, -np.inf, np.float32),
                np.full(passages, -np.inf, np.float32),
            )
            return Scores(*nothing, ScoreParts({}), ScoreParts({}))
        scorer.exact.look_up_words()
        adding = pool.submit(scorer.exact.add_up)
        scorer.exact.look_up_documents()
        comparing.result()
        selection = scorer.select(least)
        similar = pool.submit(scorer.similarity, selection)
        adding.result()
        if ranking.repetition:
            _ = scorer.passage_spread  # while similarity is computed
        similarity = similar.result()
    of_documents = scorer.of_documents(selection, similarity)
    exact = scorer.exact.of_passages(selection)
    of_passages = scorer.of_passages(selection, similarity, of_documents, exact)
    total = _total(of_passages)
    of_passages["repetition"] = penalty = np.zeros(len(total), np.float32)
    if ranking.repetition:
        ranks = RankedPassages.of(total, selection.owner).merge(())
        penalty[:] = ranks.penalty(
            selection.owner, weight=ranking.repetition, deviation=scorer.passage_spread.deviation
        )
    where, within = selection.documents, selection.passages
    return Scores(
        _scatter(_total(of_documents), where, documents),
        _scatter(total + penalty, within, passages),
        ScoreParts(of_documents, where),
        ScoreParts(of_passages, within),
    )


@dataclass(frozen=True)
class _CandidateScorer:
    """What scoring some documents for one query needs of all the others."""

    features: Features
    ranking: Ranking
    exact: ExactFeatures

    # Selecting candidates

    def compare(self, pool: Executor) -> Future[None]:
        """Begin to compare the query with vectors."""
        if self._is_dense:
            _ = self.features.vectors  # the encoder is asked in this thread
        return pool.submit(self._compare)

    def _compare(self) -> None:
        _ = self.nearest if self._dense_documents else None, self.sample

    def select(self, least: int) -> Selection:
        """The documents that are best by their upper bounds."""
        scores = self.exact.documents
        for name, spread in self.document_spreads.items():
            scores = scores + self.ranking.documents[name] * spread.over(self.upper_bound)
        first = best(mask_out(scores, self.features.admitted), max(CANDIDATES, least))
        bounds = self.features.snapshot.bounds
        lengths = bounds[first + 1] - bounds[first]
        fitting = int(np.searchsorted(np.cumsum(lengths), CANDIDATES, side="right"))
        return Selection.of(first[: max(fitting, least, FEWEST)], bounds)

    @cached_property
    def nearest(self) -> tuple[FloatArray, IntArray]:
        """What is nearest to each sentence by codes: scores, positions (s, LARGE_DEPTH at most)."""
        features = self.features
        index, sentences = (
            features.snapshot.passage_vectors,
            features.of_sentences(features.vectors),
        )
        return index.estimate(sentences, LARGE_DEPTH, allowed=features.allowed)

    @cached_property
    def upper_bound(self) -> FloatArray:
        """(documents,) about each sentence's most similar passage, or a little more, summed."""
        features = self.features
        scores, passages = self.nearest
        total = np.zeros(len(features.starts), np.float32)
        for row, positions in zip(scores, passages, strict=True):
            hits = positions >= 0
            nearest = np.full(len(total), row[hits].min(initial=1.0), np.float32)
            np.maximum.at(nearest, features.snapshot.owner[positions[hits]], row[hits])
            total += nearest
        return mask_out(total, features.admitted)

    # Scoring the candidates

    def similarity(self, selection: Selection) -> FloatArray:
        """(q, p) of each text with each passage, where a feature of the ranking is dense."""
        if not self._is_dense:
            return np.zeros((0, len(selection.passages)), np.float32)
        index = self.features.snapshot.passage_vectors
        return index.inner_products(self.features.vectors, selection.passages)

    def of_documents(self, selection: Selection, similarity: FloatArray) -> Contributions:
        """What each feature gives to the scores of documents (c,)."""
        contributions = {}
        for name, weight in self.ranking.documents.items():
            if name in self._dense_documents:
                scores = self._sentence_max(name, selection, similarity)
                scores = self.document_spreads[name].over(scores)
            else:
                scores = self.exact.of_documents[name][selection.documents]
            contributions[name] = weight * scores
        return contributions

    def of_passages(
        self,
        selection: Selection,
        similarity: FloatArray,
        documents: Contributions,
        exact: Contributions,
    ) -> Contributions:
        """What each feature gives to the scores of passages (p,); the exact ones are given."""
        contributions = {}
        for name, weight in self.ranking.passages.items():
            if name == "document":
                scores = self.document_spread.over(_total(documents)[selection.owner])
            elif name in self._dense_passages:
                scores = self._whole_query(name, selection, similarity)
                scores = self.passage_spreads[name].over(scores)
            else:
                scores = exact[name]
            contributions[name] = mask_out(weight * scores, self._allowed(selection))
        return contributions

    @property
    def _is_dense(self) -> bool:
        return bool(self._dense_documents or self._dense_passages)

    @cached_property
    def _dense_documents(self) -> dict[str, SentenceMax]:
        every = {name: DOCUMENT_FEATURES[name] for name in self.ranking.documents}
        return {n: f for n, f in every.items() if isinstance(f, SentenceMax) and is_dense(f)}

    @cached_property
    def _dense_passages(self) -> dict[str, WholeQuery]:
        every = {n: PASSAGE_FEATURES[n] for n in self.ranking.passages if n != "document"}
        return {n: f for n, f in every.items() if isinstance(f, WholeQuery) and is_dense(f)}

    def _sentence_max(self, name: str, selection: Selection, similarity: FloatArray) -> FloatArray:
        """(c,) each sentence's best passage by similarity, summed."""
        reach = self._dense_documents[name].reach
        every = self.features.of_sentences(similarity)
        scores = np.stack([selection.means(one, reach) for one in every]) if reach else every
        return sum_of_best(mask_out(scores, self._allowed(selection)), selection.starts)

    def _whole_query(self, name: str, selection: Selection, similarity: FloatArray) -> FloatArray:
        """(p,) similarity of the whole query."""
        return selection.means(similarity[0], self._dense_passages[name].reach)

    def _allowed(self, selection: Selection) -> npt.NDArray[np.bool_] | None:
        allowed = self.features.allowed
        return None if allowed is None else allowed[selection.passages]

    # Estimated

    @cached_property
    def sample(self) -> tuple[Selection, FloatArray]:
        """Documents at even distances, and the similarity (q, p) of their passages."""
        features, snapshot = self.features, self.features.snapshot
        if features.admitted is None:
            sample = snapshot.sample
        else:
            sample = Sample.of(np.flatnonzero(features.admitted), snapshot.bounds)
        if not self._is_dense:
            return sample.selection, np.zeros((0, len(sample.selection.passages)), np.float32)
        index = snapshot.passage_vectors
        return sample.selection, sample.similarity(index, features.vectors)

    @cached_property
    def document_spreads(self) -> dict[str, Spread]:
        """Of the dense features of documents."""
        if not self._dense_documents:
            return {}
        selection, similarity = self.sample
        bound = self.upper_bound
        maxima = {n: self._sentence_max(n, selection, similarity) for n in self._dense_documents}
        return {
            name: _estimate(Spread.of(bound), bound[selection.documents], exact)
            for name, exact in maxima.items()
        }

    @cached_property
    def passage_spreads(self) -> dict[str, Spread]:
        """Of the dense features of passages."""
        selection, similarity = self.sample
        values = {n: self._whole_query(n, selection, similarity) for n in self._dense_passages}
        mask = self._allowed(selection)
        return {name: Spread.of(mask_out(scores, mask)) for name, scores in values.items()}

    @cached_property
    def document_spread(self) -> Spread:
        """Of the scores of documents, over passages."""
        selection, similarity = self.sample
        allowed = self._allowed(selection)
        exact = mask_out(self.exact.documents[selection.documents][selection.owner], allowed)
        whole = _total(self.of_documents(selection, similarity))[selection.owner]
        return _estimate(self.exact.owners, exact, mask_out(whole, allowed))

    @cached_property
    def passage_spread(self) -> Spread:
        """Of the scores of passages."""
        selection, similarity = self.sample
        exact = self.exact.of_passages(selection)
        of_documents = self.of_documents(selection, similarity)
        whole = _total(self.of_passages(selection, similarity, of_documents, exact))
        part = self.exact.passages(selection, exact)
        return _estimate(self.exact.passage_spread, part, whole)


def _total(contributions: Contributions) -> FloatArray:
    return np.asarray(sum(contributions.values()), np.float32)


def _estimate(every: Spread, part: FloatArray, whole: FloatArray) -> Spread:
    """The spread of something that is known roughly for all and exactly for a sample.

    The sample, `part` of the rough values and the `whole` (p,), gives the difference alone
    (Cochran, Sampling Techniques, 1977, section 7): what stands out, such as a rare word, is seldom
    in the sample, but it is in the rough values.
    """
    some, exact = Spread.of(part), Spread.of(whole)
    variance = every.deviation**2 + exact.deviation**2 - some.deviation**2
    least = 0.01 * max(every.deviation, exact.deviation) ** 2
    mean = every.mean + exact.mean - some.mean
    return Spread(np.float32(mean), np.float32(np.sqrt(max(variance, least))))


def _scatter(scores: FloatArray, positions: IntArray, count: int) -> FloatArray:
    """(count,) with the scores at their positions, -inf elsewhere."""
    whole = np.full(count, -np.inf, np.float32)
    whole[positions] = scores
    return whole
