"""What is known exactly of everything in a large corpus: all that rests on words and speakers.

Arrays over all passages are longer than a core's caches, and each walk along one takes its time. So
one walk is made, over some documents at a time, whose sums tell how much each feature varies, and
how much their weighted sum does: the variance of a sum follows from the products of its parts.
Values themselves are looked up only for the passages that somebody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from retriever.features import (
    DOCUMENT_FEATURES,
    PASSAGE_FEATURES,
    UNSCALED,
    Features,
    SentenceMax,
    Signal,
    WholeQuery,
    is_dense,
    mask_out,
)
from retriever.fusion import Contributions, Ranking, Spread, standardise
from retriever.late_interaction import mean_of_neighbours, moving_average, sum_of_best
from retriever.lexical import passage_pairs, passage_stems
from retriever.selection import Selection

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

CHUNK = 32768  # passages, about, that are walked along at once
_LEAST = 1e-5  # of the mean square: a smaller variance is rounding
_AS_IT_IS = Spread(np.float32(0), np.float32(1))


@dataclass(frozen=True)
class ExactFeatures:
    """The features of a ranking that are not dense, of all documents and passages.

    Attributes:
        features: Of one query.
        ranking: Which of them count.
    """

    features: Features
    ranking: Ranking
    _maxima: dict[str, dict[SentenceMax, FloatArray]] = field(default_factory=dict)

    def jobs(self) -> Iterator[Callable[[], object]]:
        """What takes long, to be done in any order or at once; all else rests on it."""
        yield lambda: self._sums
        for text in dict.fromkeys(self.features.query.sentences):
            yield partial(self._maxima_of, text)

    # Of documents

    @cached_property
    def of_documents(self) -> Contributions:
        """(documents,) of each, scaled."""
        every = {name: DOCUMENT_FEATURES[name] for name in self.ranking.documents}
        names = [name for name, feature in every.items() if not is_dense(feature)]
        masked = ((name, mask_out(self._document(name), self.features.admitted)) for name in names)
        return {
            name: scores if name in UNSCALED else standardise(scores) for name, scores in masked
        }

    @cached_property
    def documents(self) -> FloatArray:
        """(documents,) their weighted sum."""
        total = np.zeros(len(self.features.starts), np.float32)
        for name, scores in self.of_documents.items():
            total += self.ranking.documents[name] * scores
        return total

    @cached_property
    def owners(self) -> Spread:
        """How much that sum varies over the passages that count, each with its document's."""
        lengths, count, scores = self._sums.lengths, self._sums.count, self._known
        return _spread(float(lengths @ scores), float(lengths @ scores**2), count)

    @cached_property
    def _known(self) -> DoubleArray:
        """(documents,) the sum, 0 where none of a document's passages counts."""
        scores = self.documents.astype(np.float64)
        return np.where(np.isfinite(scores), scores, 0.0)

    def _document(self, name: str) -> FloatArray:
        feature = DOCUMENT_FEATURES[name]
        if isinstance(feature, SentenceMax):
            every = (self._maxima_of(text)[feature] for text in self.features.query.sentences)
            return np.asarray(sum(every), np.float32)
        return feature.compute(self.features)

    def _maxima_of(self, text: str) -> dict[SentenceMax, FloatArray]:
        """(documents,) the best passage of each for a sentence, by each lexical feature.

        What that rests on is not kept, to save memory.
        """
        if text not in self._maxima:
            every = (DOCUMENT_FEATURES[name] for name in self.ranking.documents)
            found = {
                each: np.zeros(len(self.features.starts), np.float32)
                for each in every
                if isinstance(each, SentenceMax) and not is_dense(each)
            }
            signals = self._signals(text, {each.signal for each in found})
            for chunk in self._chunks if found else ():
                for each, best in found.items():
                    scores = chunk.means(signals[each.signal], each.reach)
                    best[chunk.documents] = chunk.best(mask_out(scores, chunk.allowed))
            self._maxima[text] = found
        return self._maxima[text]

    # Of passages

    def of_passages(self, name: str, selection: Selection) -> FloatArray:
        """(p,) a feature of passages, scaled."""
        reach, scores = self._passages[name]
        some = scores[selection.passages]
        if reach:
            some = moving_average(some[None], selection.starts, selection.owner, reach=reach)[0]
        return self._spreads[name].over(some)

    def passages(self, selection: Selection) -> FloatArray:
        """(p,) the weighted sum of these features, with that of the documents; -inf as masked."""
        total = np.zeros(len(selection.passages), np.float32)
        if "document" in self.ranking.passages:
            documents = self.owners.over(self.documents[selection.documents])
            total += self.ranking.passages["document"] * documents[selection.owner]
        for name in self._passages:
            total += self.ranking.passages[name] * self.of_passages(name, selection)
        allowed = self.features.allowed
        return mask_out(total, None if allowed is None else allowed[selection.passages])

    @cached_property
    def passage_spread(self) -> Spread:
        """How much that sum varies over all passages that count."""
        sums, count = self._sums, max(self._sums.count, 1)
        factors = np.array([self._factor(name) for name in self._passages])
        means = sums.by_document.sum(axis=1, dtype=np.float64) / count
        covariance = sums.products / count - np.outer(means, means)
        variance = factors @ covariance @ factors
        if "document" in self.ranking.passages and self.owners.varies:
            weight = self.ranking.passages["document"]
            beside = sums.by_document @ self._known / count - means * float(self.owners.mean)
            variance += weight**2 + 2 * weight / float(self.owners.deviation) * (factors @ beside)
        unscaled = np.array([name in UNSCALED for name in self._passages], np.bool_)
        mean = float((factors * means)[unscaled].sum())
        return Spread(np.float32(mean), np.float32(np.sqrt(max(variance, 0.0))))

    def _factor(self, name: str) -> float:
        """What the values of a feature are multiplied with in the sum."""
        spread = self._spreads[name]
        return self.ranking.passages[name] / float(spread.deviation) if spread.varies else 0.0

    @cached_property
    def _spreads(self) -> dict[str, Spread]:
        """Of each, over all passages that count."""
        sums = self._sums
        totals = sums.by_document.sum(axis=1, dtype=np.float64)
        return {
            name: _AS_IT_IS
            if name in UNSCALED
            else _spread(float(totals[i]), float(sums.products[i, i]), sums.count)
            for i, name in enumerate(self._passages)
        }

    @cached_property
    def _sums(self) -> _Sums:
        every, features = list(self._passages.values()), self.features
        products = np.zeros((len(every), len(every)))
        by_document = np.zeros((len(every), len(features.starts)), np.float32)
        lengths = np.zeros(len(features.starts))
        for chunk in self._chunks:
            lengths[chunk.documents] = chunk.lengths
            if not every:
                continue
            rows = np.stack([chunk.means(scores, reach) for reach, scores in every])
            if chunk.allowed is not None:
                rows *= chunk.allowed
            products += rows @ rows.T
            by_document[:, chunk.documents] = np.add.reduceat(rows, chunk.starts, axis=1)
        return _Sums(products, by_document, lengths)

    @cached_property
    def _passages(self) -> dict[str, tuple[int, FloatArray]]:
        """Of each feature its reach, and (passages,) what means are taken of."""
        every = {n: PASSAGE_FEATURES[n] for n in self.ranking.passages if n != "document"}
        exact = {name: each for name, each in every.items() if not is_dense(each)}
        lexical = {name: each for name, each in exact.items() if isinstance(each, WholeQuery)}
        signals = self._signals(
            self.features.query.text, {each.signal for each in lexical.values()}
        )
        return {
            name: (each.reach, signals[each.signal])
            if isinstance(each, WholeQuery)
            else (0, each.compute(self.features))
            for name, each in exact.items()
        }

    def _signals(self, text: str, signals: set[Signal]) -> dict[Signal, FloatArray]:
        """(passages,) of a text."""
        snapshot = self.features.snapshot
        score = {"stems": passage_stems, "pairs": passage_pairs}
        return {each: np.asarray(score[each](snapshot, [text])[0]) for each in signals}

    @cached_property
    def _chunks(self) -> list[_Chunk]:
        return list(_chunks(self.features))


@dataclass(frozen=True)
class _Sums:
    """Of features over the passages that count.

    Attributes:
        products: (f, f) sums of the products of each two.
        by_document: (f, documents) sums over the passages of each document.
        lengths: (documents,) how many these are.
    """

    products: DoubleArray
    by_document: FloatArray
    lengths: DoubleArray

    @cached_property
    def count(self) -> int:
        """All passages that count."""
        return int(self.lengths.sum())


@dataclass(frozen=True)
class _Chunk:
    """Some documents that follow on each other, with their passages.

    Attributes:
        documents: Which.
        passages: Where.
        starts: (c,) where each document begins among them.
        crossings: As of the snapshot, among them.
        allowed: (p,) which count; None for all.
    """

    documents: slice
    passages: slice
    starts: IntArray
    crossings: Sequence[IntArray]
    allowed: npt.NDArray[np.bool_] | None

    def means(self, scores: FloatArray, reach: int) -> FloatArray:
        """(p,) of (passages,), each with so many neighbours."""
        here = scores[self.passages]
        return mean_of_neighbours(here, self.crossings, reach=reach) if reach else here

    def best(self, scores: FloatArray) -> FloatArray:
        """(c,) each document's best of (p,)."""
        return sum_of_best(scores[None], self.starts)

    @property
    def lengths(self) -> IntArray:
        """(c,) how many passages of each document count."""
        size = self.passages.stop - self.passages.start
        if self.allowed is None:
            return np.diff(np.append(self.starts, size))
        return np.add.reduceat(self.allowed.astype(np.int64), self.starts)


def _chunks(features: Features) -> Iterator[_Chunk]:
    """All documents, some CHUNK passages at a time."""
    snapshot, count = features.snapshot, len(features.snapshot.owner)
    bounds = np.append(features.starts, count)
    first = 0
    while first < len(features.starts):
        last = int(np.searchsorted(bounds, bounds[first] + CHUNK, side="right")) - 1
        last = max(last, first + 1)
        start, end = int(bounds[first]), int(bounds[last])
        crossings = []
        for steps, places in enumerate(snapshot.crossings, start=1):
            low, high = np.searchsorted(places, [start, max(start, end - steps)])
            crossings.append(places[low:high] - start)
        allowed = None if features.allowed is None else features.allowed[start:end]
        yield _Chunk(
            slice(first, last),
            slice(start, end),
            bounds[first:last] - start,
            crossings,
            allowed,
        )
        first = last


def _spread(total: float, squares: float, count: int) -> Spread:
    """From sums over so many."""
    if not count:
        return Spread(np.float32(0), np.float32(0))
    mean, square = total / count, squares / count
    variance = square - mean**2
    deviation = np.sqrt(variance) if variance > _LEAST * square else 0.0
    return Spread(np.float32(mean), np.float32(deviation))
