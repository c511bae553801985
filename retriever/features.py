"""The features of scores: what each is made of, in two tables, and their values over a snapshot.

A feature is an array of scores, one for each document or one for each passage, under the name that
`--explain` shows. Most rest on one of three signals of a text for each passage: similarity of
vectors, BM25 of stems, BM25 of pairs of stems. To add one, add its line to a table: both scorers,
of everything (`Features`) and of the candidates in a large corpus (`candidates`), go through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.index.dense.faiss_index import GPU_DEPTH
from indexing.index.dense.vectors import Vectors
from indexing.index.snapshot import Snapshot
from retriever.late_interaction import moving_average, sum_of_best
from retriever.lexical import Terms
from retriever.query import Query
from retriever.rounds.query_words import QueryWords
from retriever.speaker_mentions import named_speakers

FloatArray = npt.NDArray[np.float32]

# Nearest ones looked up for each sentence of a query in an index of codes, or on a GPU.
LARGE_DEPTH = GPU_DEPTH


def similarities(index: Vectors, queries: FloatArray) -> FloatArray:
    """Cosine of queries (q, d) with everything in an index, as (q, n).

    Exact, but for an index of codes (`Vectors.is_approximate`): there, for the LARGE_DEPTH
    nearest of each query; the rest get the last of these scores, an upper bound.
    """
    if not index.is_approximate:
        return index.products(queries)
    scores, positions = index.search(queries, LARGE_DEPTH)
    filled = np.repeat(scores[:, -1:], len(index), axis=1)
    np.put_along_axis(filled, positions, scores, axis=1)
    return filled


Mask = npt.NDArray[np.bool_]
Embed = Callable[[Sequence[str]], FloatArray]
Signal = Literal["dense", "stems", "pairs"]


@dataclass(frozen=True, slots=True)
class WholeQuery:
    """(passages,) a signal for the whole query."""

    signal: Signal
    reach: int = 0  # each passage gets the mean with so many neighbours on either side


@dataclass(frozen=True, slots=True)
class SentenceMax:
    """(documents,) late interaction: a signal for each sentence, its best passage, summed."""

    signal: Signal
    reach: int = 0  # as in `WholeQuery`


@dataclass(frozen=True, slots=True)
class Computed:
    """(documents,) or (passages,) what a function gives, exactly and for all."""

    compute: Callable[[Features], FloatArray]  # the function
    standardised: bool = True  # false for what is 0 for most, which a deviation of 1 would blow up


Feature = WholeQuery | SentenceMax | Computed

DOCUMENT_FEATURES: Mapping[str, SentenceMax | Computed] = {
    "dense_document": Computed(
        lambda f: similarities(f.snapshot.document_vectors, f.vectors[:1])[0]
    ),
    "dense_passages": SentenceMax("dense"),
    "bm25_passages": SentenceMax("stems"),
    "bm25_stretches": SentenceMax("stems", reach=1),
    "bigram_passages": SentenceMax("pairs"),
    "bm25_document": Computed(lambda f: f.words.documents.score(f.terms(f.query.text).stems)),
    "bigram_document": Computed(
        lambda f: f.words.document_pairs.score(f.terms(f.query.text).pairs)
    ),
    "speakers": Computed(lambda f: f.documents_of_speakers, standardised=False),
}

PASSAGE_FEATURES: Mapping[str, WholeQuery | Computed] = {
    "dense": WholeQuery("dense"),
    "dense_surroundings": WholeQuery("dense", reach=3),
    "bm25": WholeQuery("stems"),
    "bm25_near": WholeQuery("stems", reach=1),
    "bm25_surroundings": WholeQuery("stems", reach=3),
    "bigram": WholeQuery("pairs"),
    "speakers": Computed(lambda f: f.speaker_shares, standardised=False),
}

UNSCALED = frozenset(
    name
    for table in (DOCUMENT_FEATURES, PASSAGE_FEATURES)
    for name, feature in table.items()
    if isinstance(feature, Computed) and not feature.standardised
)
"""Features that are weighted as they are."""


def is_dense(feature: Feature) -> bool:
    """Whether it rests on the similarity of passages, the costly signal in a large corpus."""
    return not isinstance(feature, Computed) and feature.signal == "dense"


def by_sentence(names: Iterable[str]) -> bool:
    """Whether one of these features of documents looks up the sentences of a query one by one."""
    return any(isinstance(DOCUMENT_FEATURES[name], SentenceMax) for name in names)


@dataclass
class Features:
    """Every feature for one query, over all of a snapshot, each computed when it is asked for."""

    snapshot: Snapshot
    query: Query
    embed: Embed  # queries (q) to unit vectors (q, d) float32
    allowed: Mask | None = None  # (passages,) which ones count; None for all
    by_sentence: bool = True  # whether sentences are looked up too, or the whole query alone
    words: QueryWords = field(init=False)  # what the query is looked up by; set when known
    _terms: dict[str, Terms] = field(default_factory=dict)

    def of_documents(self, name: str) -> FloatArray:
        """(documents,) a feature by its name, -inf where none of a document's passages counts."""
        return mask_out(self._compute(DOCUMENT_FEATURES[name]), self.admitted)

    def of_passages(self, name: str) -> FloatArray:
        """(passages,) a feature by its name, -inf where a passage does not count."""
        return mask_out(self._compute(PASSAGE_FEATURES[name]), self.allowed)

    def _compute(self, feature: Feature) -> FloatArray:
        match feature:
            case Computed(compute=compute):
                return compute(self)
            case WholeQuery(signal=signal, reach=reach):
                return np.asarray(self._average(self._signal(signal)[:1], reach)[0])
            case SentenceMax(signal=signal, reach=reach):
                scores = self._average(self.of_sentences(self._signal(signal)), reach)
                return sum_of_best(mask_out(scores, self.allowed), self.starts)

    def _signal(self, signal: Signal) -> FloatArray:
        """(q, passages) for each of the texts."""
        if signal == "dense":
            return self._dense
        return self._stems if signal == "stems" else self._pairs

    def _average(self, scores: FloatArray, reach: int) -> FloatArray:
        if not reach:
            return scores
        return moving_average(scores, self.starts, self.snapshot.owner, reach=reach)

    @property
    def texts(self) -> tuple[str, ...]:
        """The whole query, then its sentences: (q) in the arrays below."""
        return self.query.texts(by_sentence=self.by_sentence)

    def of_sentences(self, rows: FloatArray) -> FloatArray:
        """Of (q, ...) those of the sentences. A query of one sentence is that sentence."""
        return rows[1:] if len(self.texts) > 1 else rows

    def terms(self, text: str) -> Terms:
        """What the whole query, or one of its sentences, is looked up by."""
        if text not in self._terms:
            self._terms[text] = Terms.of(self.words.lexicon, text)
        return self._terms[text]

    @cached_property
    def vectors(self) -> FloatArray:
        """(q, d) of the texts."""
        return self.embed(self.texts)

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """(documents,) position of each document's first passage."""
        return self.snapshot.first_passages

    @cached_property
    def admitted(self) -> Mask | None:
        """(documents,) which ones have a passage that counts; None for all."""
        if self.allowed is None:
            return None
        return np.asarray(np.logical_or.reduceat(self.allowed, self.starts), np.bool_)

    @cached_property
    def documents_of_speakers(self) -> FloatArray:
        """(documents,) 1 where a speaker whom the query names speaks."""
        if not self.speaker_shares.max(initial=0):
            return np.zeros(len(self.starts), np.float32)
        return np.maximum.reduceat(self.speaker_shares > 0, self.starts).astype(np.float32)

    @cached_property
    def speaker_shares(self) -> FloatArray:
        """(passages,) 1/n where a speaker whom the query names says n-th most, summed over them."""
        speakers = self.words.speakers
        return speakers.postings.score(named_speakers(self.query.text, speakers))

    @cached_property
    def _dense(self) -> FloatArray:
        return similarities(self.snapshot.passage_vectors, self.vectors)

    @cached_property
    def _stems(self) -> FloatArray:
        index = self.words.passages
        return np.stack([index.score(self.terms(text).stems) for text in self.texts])

    @cached_property
    def _pairs(self) -> FloatArray:
        index = self.words.passage_pairs
        return np.stack([index.score(self.terms(text).pairs) for text in self.texts])


def mask_out(scores: FloatArray, mask: Mask | None) -> FloatArray:
    """The scores, -inf where a mask says no."""
    return scores if mask is None else np.asarray(np.where(mask, scores, -np.inf), np.float32)
