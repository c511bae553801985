"""The parts of scores, each computed when a ranking asks for it.

A part is an array of scores, one for each document or one for each passage. Two tables name them,
as `--explain` does; `Parts` holds what several of them share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexing.index.snapshot import Snapshot
from retriever.dense import similarities
from retriever.late_interaction import moving_average, sum_of_best
from retriever.lexical import document_pairs, document_stems, passage_pairs, passage_stems
from retriever.query import Query
from retriever.speaker_mentions import named_speakers

FloatArray = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Embed = Callable[[Sequence[str]], FloatArray]


@dataclass(frozen=True)
class Parts:
    """Every part for one query, over all of a snapshot.

    Attributes:
        snapshot: What is searched.
        query: What is asked.
        embed: Queries (q) to unit vectors (q, d) float32.
        allowed: (passages,) which ones count; None for all.
        by_sentence: Whether sentences are looked up too, or the whole query alone.
    """

    snapshot: Snapshot
    query: Query
    embed: Embed
    allowed: Mask | None = None
    by_sentence: bool = True

    def of_documents(self, name: str) -> FloatArray:
        """(documents,) a part by its name, -inf where none of a document's passages counts."""
        return only(DOCUMENT_PARTS[name](self), self.admitted)

    def of_passages(self, name: str) -> FloatArray:
        """(passages,) a part by its name, -inf where a passage does not count."""
        return only(PASSAGE_PARTS[name](self), self.allowed)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The whole query, then its sentences: (q) in the arrays below."""
        return (self.query.text, *(self.query.sentences if self.by_sentence else ()))

    @cached_property
    def vectors(self) -> FloatArray:
        """(q, d) of the texts."""
        return self.embed(self.texts)

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """(documents,) position of each document's first passage."""
        return self.snapshot.starts

    @cached_property
    def admitted(self) -> Mask | None:
        """(documents,) which ones have a passage that counts; None for all."""
        if self.allowed is None:
            return None
        return np.asarray(np.logical_or.reduceat(self.allowed, self.starts), np.bool_)

    @cached_property
    def dense(self) -> FloatArray:
        """(q, passages) similarity."""
        return similarities(self.snapshot.passage_vectors, self.vectors, allowed=self.allowed)

    @cached_property
    def stems(self) -> FloatArray:
        """(q, passages) BM25 of stems."""
        return passage_stems(self.snapshot, self.texts)

    @cached_property
    def pairs(self) -> FloatArray:
        """(q, passages) BM25 of pairs of stems."""
        return passage_pairs(self.snapshot, self.texts)

    @cached_property
    def near(self) -> FloatArray:
        """(q, passages) mean of `stems` over three passages in a row."""
        return self._mean(self.stems, reach=1)

    @cached_property
    def spoken(self) -> FloatArray:
        """(passages,) 1/n where a speaker whom the query names says n-th most, summed over them."""
        speakers = self.snapshot.speakers
        return speakers.postings.score(named_speakers(self.query.text, speakers))

    def best(self, scores: FloatArray) -> FloatArray:
        """(documents,) of (q, passages): each sentence's best passage, summed."""
        return sum_of_best(only(scores[1:], self.allowed), self.starts)

    def surroundings(self, scores: FloatArray) -> FloatArray:
        """(passages,) of (q, passages): the whole query's, mean over seven passages in a row."""
        return np.asarray(self._mean(scores[:1], reach=3)[0])

    def _mean(self, scores: FloatArray, *, reach: int) -> FloatArray:
        return moving_average(scores, self.starts, self.snapshot.owner, reach=reach)


DOCUMENT_PARTS: Mapping[str, Callable[[Parts], FloatArray]] = {
    "dense_document": lambda p: similarities(p.snapshot.document_vectors, p.vectors[:1])[0],
    "dense_passages": lambda p: p.best(p.dense),
    "bm25_passages": lambda p: p.best(p.stems),
    "bm25_stretches": lambda p: p.best(p.near),
    "bigram_passages": lambda p: p.best(p.pairs),
    "bm25_document": lambda p: document_stems(p.snapshot, p.query.text),
    "bigram_document": lambda p: document_pairs(p.snapshot, p.query.text),
    "speakers": lambda p: np.maximum.reduceat(p.spoken > 0, p.starts).astype(np.float32),
}

PASSAGE_PARTS: Mapping[str, Callable[[Parts], FloatArray]] = {
    "dense": lambda p: p.dense[0],
    "dense_surroundings": lambda p: p.surroundings(p.dense),
    "bm25": lambda p: p.stems[0],
    "bm25_near": lambda p: p.near[0],
    "bm25_surroundings": lambda p: p.surroundings(p.stems),
    "bigram": lambda p: p.pairs[0],
    "speakers": lambda p: p.spoken,
}


def only(scores: FloatArray, mask: Mask | None) -> FloatArray:
    """The scores, -inf where a mask says no."""
    return scores if mask is None else np.asarray(np.where(mask, scores, -np.inf), np.float32)
