"""Features of a score into one: each standardised over what is ranked, then weighted and summed.

A feature's scale differs from query to query (a BM25 of 3 can be much or little), so each is
brought to mean 0 and deviation 1 over the candidates first (z-score fusion: Lee, SIGIR 1997; Fox
and Shaw, TREC-2, for the weighted sum). Weights were fitted on the QMSum training split;
docs/notebook/experiments.md says how, and what each feature gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Weights of features, by the names that `--explain` shows."""

    documents: Mapping[str, float] = field(default_factory=dict)  # of a document's score
    passages: Mapping[str, float] = field(default_factory=dict)  # of a passage's score
    repetition: float = 0.0  # what the n-th passage of a document loses, in deviations, times ln(n)


RANKINGS: dict[str, Ranking] = {
    "default": Ranking(
        documents={
            "dense_passages": 0.62,  # each sentence's most similar passage, summed
            "bm25_passages": 0.33,  # each sentence's best passage by BM25, summed
            "bm25_stretches": 0.28,  # the same over three passages in a row
            "bigram_passages": 0.25,  # each sentence's best passage by pairs of stems, summed
            "bm25_document": 0.61,  # whole query, whole document
            "bigram_document": 0.27,
            "speakers": 1.0,  # whether somebody speaks whom the query names
        },
        passages={
            "dense": 0.62,  # whole query, passage
            "dense_surroundings": 0.09,  # mean over seven passages in a row
            "bm25": 0.40,
            "bm25_near": 0.12,  # mean over three in a row
            "bm25_surroundings": 0.46,  # mean over seven
            "bigram": 0.18,
            "speakers": 0.8,  # 1/n where the speaker it names says n-th most
            "document": 2.0,  # the score of its document: good documents lift their passages
        },
        repetition=0.4,
    ),
    "dense": Ranking(documents={"dense_document": 1.0}, passages={"dense": 1.0}),
    "bm25": Ranking(documents={"bm25_document": 1.0}, passages={"bm25": 1.0}),
}

EVIDENCE = "evidence"
RANKING_OF_EVIDENCE = replace(
    RANKINGS["default"], passages={**RANKINGS["default"].passages, "document": 1.0}, repetition=0.8
)
"""By which passages are found to answer from: a good document lifts its own less, so that those of
more documents are read. `benchmarks folders` was what it was chosen on."""

CATCHES: dict[str, Ranking] = {
    "words": Ranking(documents={"bm25_passages": 1.0}, passages={"bm25": 1.0}),
    "vectors": Ranking(documents={"dense_passages": 1.0}, passages={"dense": 1.0}),
}
"""Two that find passages apart, wherever they are: a document is as good as its best one."""


Contributions = dict[str, FloatArray]
"""What each feature adds to a score, by its name."""


@dataclass(frozen=True)
class ScoreParts:
    """What each feature added to some of the scores of a corpus."""

    values: Contributions  # (n,) by the name of the feature
    positions: npt.NDArray[np.int64] | None = None  # (n,) of those scores; None for all

    def at(self, position: int) -> dict[str, float]:
        """Those of one score, by name; 0 where it is none of these."""
        where: int | None = position
        if self.positions is not None:
            found = np.flatnonzero(self.positions == position)
            where = int(found[0]) if len(found) else None
        return {
            name: 0.0 if where is None else round(float(each[where]), 4)
            for name, each in self.values.items()
        }


@dataclass(frozen=True)
class Scores:
    """Scores of a corpus for one query, and what each feature gave."""

    documents: FloatArray  # (documents,) float32, -inf where excluded or no candidate
    passages: FloatArray  # (passages,) float32, the same
    document_parts: ScoreParts  # what each feature gave to a document's score
    passage_parts: ScoreParts  # what each feature gave to a passage's score


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of the finite ones of some scores."""

    mean: np.float32
    deviation: np.float32

    @classmethod
    def of(cls, scores: FloatArray) -> Spread:
        """Measured; 0 and 0 where none is finite."""
        finite = np.isfinite(scores)
        some = scores if finite.all() else scores[finite]
        return cls(some.mean(), some.std()) if len(some) else cls(np.float32(0), np.float32(0))

    @property
    def varies(self) -> bool:
        """Whether there is a deviation to measure in."""
        return bool(self.deviation > 1e-6)

    def over(self, scores: FloatArray) -> FloatArray:
        """Scores in deviations from the mean; -inf stays, and 0 where there is no deviation."""
        if self.varies:
            return np.asarray((scores - self.mean) / self.deviation, np.float32)
        return np.asarray(np.where(np.isfinite(scores), 0.0, scores), np.float32)


def standardise(scores: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1 over the finite entries; -inf stays, equal scores become 0."""
    return Spread.of(scores).over(scores)


def fuse(
    features: Mapping[str, FloatArray], weights: Mapping[str, float], spreads: Mapping[str, Spread]
) -> tuple[FloatArray, Contributions]:
    """The weighted sum of features, and what each gave to it.

    Spreads say how much they vary over all that is ranked; those without one are weighted as they
    are.
    """
    scaled = {
        name: spreads[name].over(scores) if name in spreads else scores
        for name, scores in features.items()
    }
    contributions = {
        name: np.asarray(weight * scaled[name], np.float32) for name, weight in weights.items()
    }
    return np.asarray(sum(contributions.values()), np.float32), contributions
