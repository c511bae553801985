"""Abstention: below a threshold the documents do not say, and nothing is generated.

One score that needs no model: the cosine of question and sentence, plus half of how much of what
the question is about occurs in the sentence or right beside it, in these words or in similar ones.
The best sentence's score counts. A topic that sounds familiar is not enough, and neither are the
question's words scattered over all the evidence.

Documents that speak of the very thing, and leave out only what is asked, are not told apart by
this: docs/experiments.md has the figures of this score and of sixteen others.
"""

from __future__ import annotations

from dataclasses import dataclass

from generator.extractive.features import SentenceFeatures

_COVERAGE = 0.5


@dataclass(frozen=True, slots=True)
class AbstentionFeatures:
    """How well the evidence fits the question, by the sentence that fits best.

    Attributes:
        similarity: Cosine of the question and the sentence, -1 to 1.
        coverage: Share of the question's words, weighted by rarity, that the sentence and its
            neighbours have, 0 to 1.
    """

    similarity: float
    coverage: float

    @property
    def strength(self) -> float:
        """The score, -1 to 1.5: their weighted sum."""
        return self.similarity + _COVERAGE * self.coverage


@dataclass(frozen=True, slots=True)
class AbstentionThreshold:
    """What evidence must reach to be answered from.

    Attributes:
        strength: Least strength.
    """

    strength: float = 0.54


def abstention_features(sentences: SentenceFeatures) -> AbstentionFeatures:
    """The features of the best sentence; the least there can be where there is none."""
    if not len(sentences.sentences):
        return AbstentionFeatures(similarity=-1.0, coverage=0.0)
    coverage = sentences.neighbourhood_coverage
    best = int((sentences.similarity + _COVERAGE * coverage).argmax())
    return AbstentionFeatures(float(sentences.similarity[best]), float(coverage[best]))


def is_answerable(features: AbstentionFeatures, threshold: AbstentionThreshold) -> bool:
    """Whether the evidence may be answered from."""
    return features.strength >= threshold.strength
