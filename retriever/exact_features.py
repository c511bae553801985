"""What is known exactly of everything in a large corpus: all that rests on words and speakers.

Arrays over all passages are longer than a core's caches, and each walk along one takes its time. So
one walk is made, over some documents at a time, whose sums tell how much each feature varies, and
how much their weighted sum does: the variance of a sum follows from the products of its parts.
Values themselves are looked up only for the passages that somebody asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.index.lexical.bm25 import SPARSE
from indexing.index.selection import Selection
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
from retriever.window_moments import Row, window_moments

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST = 1e-5  # of the mean square: a smaller variance is rounding
_AS_IT_IS = Spread(np.float32(0), np.float32(1))


@dataclass(frozen=True)
class ExactFeatures:
    """The features of a ranking that are not dense, of all documents and passages."""

    features: Features
    ranking: Ranking  # which of them count

    def look_up_words(self) -> None:
        """Do what all else rests on."""
        _ = self._passages

    def look_up_documents(self) -> None:
        """Do what takes long of documents."""
        _ = self.documents

    def add_up(self) -> None:
        """Do what takes long of passages."""
        _ = self._sums

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
        each = self._sums.lengths * self._known  # no products of BLAS, which wake its threads
        return _spread(float(each.sum()), float((each * self._known).sum()), self._sums.count)

    @cached_property
    def _known(self) -> DoubleArray:
        """(documents,) the sum, 0 where none of a document's passages counts."""
        scores = self.documents.astype(np.float64)
        return np.where(np.isfinite(scores), scores, 0.0)

    def _document(self, name: str) -> FloatArray:
        feature = DOCUMENT_FEATURES[name]
        if isinstance(feature, SentenceMax):
            return np.asarray(sum(each[feature] for each in self._words.best), np.float32)
        return feature.compute(self.features)

    @cached_property
    def _words(self) -> _Words:
        """What rests on the words of the query and its sentences.

        A query begins with the stems of its first sentence, whose row is gone on with.
        """
        features, snapshot = self.features, self.features.snapshot
        whole = features.terms(features.query.text).stems
        row, held = np.zeros(snapshot.padding.size, np.float32), 0
        best: list[dict[SentenceMax, FloatArray]] = []
        for text in features.query.sentences if self._by_sentence else ():
            stems = features.terms(text).stems
            if not best and np.array_equal(whole[: len(stems)], stems):
                own, held = row, len(stems)
            else:
                own = np.zeros(snapshot.padding.size, np.float32)
            features.words.passages.add_padded(stems, snapshot.padding, own)
            best.append({each: self._best(each, text, own) for each in self._by_sentence})
        features.words.passages.add_padded(whole[held:], snapshot.padding, row)
        return _Words(row, best)

    @cached_property
    def _by_sentence(self) -> list[SentenceMax]:
        """Features of documents that look for the words of each sentence."""
        every = (DOCUMENT_FEATURES[name] for name in self.ranking.documents)
        return [each for each in every if isinstance(each, SentenceMax) and not is_dense(each)]

    def _best(self, feature: SentenceMax, text: str, stems: FloatArray) -> FloatArray:
        """(documents,) the best passage of each for a sentence, whose stems give this row."""
        if feature.signal == "stems":
            padding, reach = self.features.snapshot.padding, feature.reach
            best = padding.best(stems, reach, counting=self._counting)
            return best / np.float32(2 * reach + 1)
        assert not feature.reach, "windows of pairs are not looked up"
        return self._best_pairs(text)

    def _best_pairs(self, text: str) -> FloatArray:
        """(documents,) the best passage of each by pairs, which few passages hold."""
        best = np.zeros(len(self.features.starts), np.float32)
        passages, scores = self._pairs(text)
        if self.features.allowed is not None:
            allowed = self.features.allowed[passages]
            passages, scores = passages[allowed], scores[allowed]
        if len(passages):
            owner = self.features.snapshot.owner[passages]
            firsts = np.flatnonzero(np.diff(owner, prepend=-1))
            best[owner[firsts]] = np.maximum.reduceat(scores, firsts)
        return best

    def _pairs(self, text: str) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """The passages that hold a pair of stems of a text, ascending, and their BM25 by pairs."""
        return self.features.words.passage_pairs.matches(self.features.terms(text).pairs)

    @cached_property
    def _counting(self) -> FloatArray | None:
        """(size,) 1 in the place of each passage that counts, 0 elsewhere; None where all count."""
        if self.features.allowed is None:
            return None
        return self.features.snapshot.padding.row(self.features.allowed.astype(np.float32))

    # Of passages

    def of_passages(self, selection: Selection) -> Contributions:
        """(p,) of each feature of passages, scaled."""
        places = self.features.snapshot.padding.places[selection.passages]
        taken = {row: row.scores[places] for _, row in self._passages.values()}
        return {
            name: self._spreads[name].over(selection.means(taken[row], reach))
            for name, (reach, row) in self._passages.items()
        }

    def passages(self, selection: Selection, values: Contributions) -> FloatArray:
        """(p,) the weighted sum of these features, with that of the documents; -inf as masked."""
        total = np.zeros(len(selection.passages), np.float32)
        if "document" in self.ranking.passages:
            documents = self.owners.over(self.documents[selection.documents])
            total += self.ranking.passages["document"] * documents[selection.owner]
        for name, scores in values.items():
            total += self.ranking.passages[name] * scores
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
        padding = self.features.snapshot.padding
        every = list(self._passages.values())
        products = np.zeros((len(every), len(every)))
        by_document = np.zeros((len(every), len(padding.starts)), np.float32)
        used = {row for _, row in every if row.scores.max() > 0}  # seldom of a speaker
        said = [i for i, (_, row) in enumerate(every) if row in used]
        if said:
            products[np.ix_(said, said)], by_document[said] = self._moments(
                [every[i] for i in said]
            )
        widths = np.array([2 * reach + 1 for reach, _ in every], np.float32)
        products /= np.outer(widths, widths)
        by_document /= widths[:, None]
        return _Sums(products, by_document, self._lengths)

    def _moments(self, windows: Sequence[tuple[int, Row]]) -> tuple[DoubleArray, FloatArray]:
        """As `window_moments`, of the passages that count."""
        padding, counting = self.features.snapshot.padding, self._counting
        if counting is None:
            return window_moments(padding, windows)
        products = np.zeros((len(windows), len(windows)))
        by_document = np.zeros((len(windows), len(padding.starts)), np.float32)
        for chunk in padding.chunks:
            sums = np.stack([chunk.window_sums(row.scores, reach) for reach, row in windows])
            sums *= counting[chunk.start : chunk.end]
            products += _products(sums)
            by_document[:, chunk.documents] = np.add.reduceat(sums, chunk.starts, axis=1)
        return products, by_document

    @cached_property
    def _lengths(self) -> DoubleArray:
        """(documents,) how many passages of each count."""
        features = self.features
        if features.allowed is None:
            ends = np.append(features.starts[1:], features.snapshot.passages)
            return np.asarray(ends - features.starts, np.float64)
        return np.add.reduceat(features.allowed.astype(np.float64), features.starts)

    @cached_property
    def _passages(self) -> dict[str, tuple[int, Row]]:
        """Of each feature its reach, and in a row with empty places what means are taken of."""
        every = {n: PASSAGE_FEATURES[n] for n in self.ranking.passages if n != "document"}
        exact = {name: each for name, each in every.items() if not is_dense(each)}
        signals = {each.signal for each in exact.values() if isinstance(each, WholeQuery)}
        rows = {each: self._row(each) for each in signals}
        padding = self.features.snapshot.padding
        return {
            name: (each.reach, rows[each.signal])
            if isinstance(each, WholeQuery)
            else (0, Row(padding.row(each.compute(self.features))))
            for name, each in exact.items()
        }

    def _row(self, signal: Signal) -> Row:
        """BM25 of the whole query."""
        if signal == "stems":
            return Row(self._words.stems)
        passages, scores = self._pairs(self.features.query.text)
        padding = self.features.snapshot.padding
        row = np.zeros(padding.size, np.float32)
        places = padding.places[passages].astype(np.int64)
        row[places] = scores
        return Row(row, places if len(places) < padding.size * SPARSE else None)


@dataclass(frozen=True)
class _Words:
    """What stems give."""

    stems: FloatArray  # (size,) BM25 of the whole query, in a row with empty places
    best: list[dict[SentenceMax, FloatArray]]  # by sentence, (documents,) the best passage


@dataclass(frozen=True)
class _Sums:
    """Of features over the passages that count."""

    products: DoubleArray  # (f, f) sums of the products of each two
    by_document: FloatArray  # (f, documents) sums over the passages of each document
    lengths: DoubleArray  # (documents,) how many these are

    @cached_property
    def count(self) -> int:
        """All passages that count."""
        return int(self.lengths.sum())


def _products(rows: FloatArray) -> DoubleArray:
    """(f, f) of each two of some long rows (f, n), one by one: `rows @ rows.T` is slower."""
    found = np.zeros((len(rows), len(rows)))
    for one in range(len(rows)):
        for two in range(one + 1):
            found[one, two] = found[two, one] = rows[one] @ rows[two]
    return found


def _spread(total: float, squares: float, count: int) -> Spread:
    """From sums over so many."""
    if not count:
        return Spread(np.float32(0), np.float32(0))
    mean, square = total / count, squares / count
    variance = square - mean**2
    deviation = np.sqrt(variance) if variance > _LEAST * square else 0.0
    return Spread(np.float32(mean), np.float32(deviation))
