"""What is known exactly of everything in a large corpus: all that rests on words and speakers.

Arrays over all passages are long, and each walk along one takes its time: they are scaled only
where somebody looks, and what varies is summed up in one walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
from retriever.late_interaction import mean_of_neighbours, sum_of_best
from retriever.lexical import passage_pairs, passage_stems

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

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
        """How much the sum varies over passages, each with that of its document."""
        return Spread.of(self._documents_by_passage)

    def of_passages(self, name: str, positions: IntArray) -> FloatArray:
        """(p,) a feature of passages, scaled."""
        return self._spreads[name].over(self._passages[name][positions])

    def passages(self, positions: IntArray) -> FloatArray:
        """(p,) the weighted sum of these features, with that of the documents; -inf as masked."""
        total = np.zeros(len(positions), np.float32)
        if "document" in self.ranking.passages:
            owner = self.features.snapshot.owner[positions]
            total += self.ranking.passages["document"] * self.owners.over(self.documents[owner])
        for name in self._passages:
            total += self.ranking.passages[name] * self.of_passages(name, positions)
        allowed = self.features.allowed
        return mask_out(total, None if allowed is None else allowed[positions])

    @cached_property
    def passage_spread(self) -> Spread:
        """How much that sum varies over all passages that count."""
        total = np.zeros_like(self._documents_by_passage)
        if "document" in self.ranking.passages:
            total = self.ranking.passages["document"] * self.owners.over(self._documents_by_passage)
        for name, scores in self._passages.items():
            spread = self._spreads[name]
            if spread.varies:
                total += self._counted(scores) * (self.ranking.passages[name] / spread.deviation)
        rest = Spread.of(total)  # of which the means are not yet taken off
        means = (
            self.ranking.passages[name] * each.mean / each.deviation
            for name, each in self._spreads.items()
            if each.varies
        )
        return Spread(np.float32(rest.mean - sum(means)), rest.deviation)

    @cached_property
    def _documents_by_passage(self) -> FloatArray:
        """(passages that count,) the weighted sum of the document of each."""
        starts, passages = self.features.starts, len(self.features.snapshot.owner)
        return self._counted(np.repeat(self.documents, np.diff(np.append(starts, passages))))

    def _counted(self, scores: FloatArray) -> FloatArray:
        """Those of (passages,) that count."""
        allowed = self.features.allowed
        return scores if allowed is None else scores[allowed]

    @cached_property
    def _passages(self) -> Contributions:
        """(passages,) of each, neither scaled nor masked."""
        every = {n: PASSAGE_FEATURES[n] for n in self.ranking.passages if n != "document"}
        return {name: self._passage(name) for name, each in every.items() if not is_dense(each)}

    @cached_property
    def _spreads(self) -> dict[str, Spread]:
        """Of each, over all passages that count."""
        return {
            name: _AS_IT_IS if name in UNSCALED else Spread.of(self._counted(scores))
            for name, scores in self._passages.items()
        }

    def _document(self, name: str) -> FloatArray:
        feature = DOCUMENT_FEATURES[name]
        if isinstance(feature, SentenceMax):
            return self._sentence_maxima[feature]
        return feature.compute(self.features)

    def _passage(self, name: str) -> FloatArray:
        feature = PASSAGE_FEATURES[name]
        if isinstance(feature, WholeQuery):
            return self._of_query.mean(feature.signal, feature.reach)
        return feature.compute(self.features)

    @cached_property
    def _of_query(self) -> _Lexical:
        return _Lexical(self.features, self.features.query.text)

    @cached_property
    def _sentence_maxima(self) -> dict[SentenceMax, FloatArray]:
        """(documents,) of each lexical one in the ranking; a sentence at a time, to save memory."""
        features = self.features
        every = (DOCUMENT_FEATURES[name] for name in self.ranking.documents)
        lexical = [each for each in every if isinstance(each, SentenceMax) and not is_dense(each)]
        totals = {each: np.zeros(len(features.starts), np.float32) for each in lexical}
        for text in features.query.sentences:
            whole = text == features.query.text
            signals = self._of_query if whole else _Lexical(features, text)
            for each in totals:
                scores = mask_out(signals.mean(each.signal, each.reach), features.allowed)
                totals[each] += sum_of_best(scores[None], features.starts)
        return totals


class _Lexical:
    """(passages,) of one text, by signal and reach, each computed when it is asked for."""

    def __init__(self, features: Features, text: str) -> None:
        self._snapshot, self._text = features.snapshot, text
        self._scores: dict[tuple[Signal, int], FloatArray] = {}

    def mean(self, signal: Signal, reach: int) -> FloatArray:
        """Means with so many neighbours of the same document on either side."""
        if (signal, reach) not in self._scores:
            self._scores[signal, reach] = self._compute(signal, reach)
        return self._scores[signal, reach]

    def _compute(self, signal: Signal, reach: int) -> FloatArray:
        if reach:
            crossings = self._snapshot.crossings
            return mean_of_neighbours(self.mean(signal, 0), crossings, reach=reach)
        of_texts = passage_stems if signal == "stems" else passage_pairs
        return np.asarray(of_texts(self._snapshot, [self._text])[0])
