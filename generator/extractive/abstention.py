"""The floor under the evidence: below it the documents do not say, and nothing is generated.

One sign that needs no model: how close a sentence is to the question, plus half of how much of
what the question is about occurs in it or right beside it, in these words or in similar ones. It
is the best sentence's sum that counts. A topic that sounds familiar is not enough, and neither are
the question's words scattered over all the evidence.

Documents that speak of the very thing, and leave out only what is asked, are not told apart by
this: docs/experiments.md has the figures of this sign and of sixteen others.
"""

from __future__ import annotations

from dataclasses import dataclass

from generator.extractive.features import Reading

_COVERAGE = 0.5


@dataclass(frozen=True, slots=True)
class Support:
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
        """Both together, -1 to 1.5."""
        return self.similarity + _COVERAGE * self.coverage


@dataclass(frozen=True, slots=True)
class Floor:
    """What evidence must reach to be answered from.

    Attributes:
        strength: Least strength.
    """

    strength: float = 0.54


def support(reading: Reading) -> Support:
    """The signs for one question."""
    if not len(reading.found):
        return Support(similarity=-1.0, coverage=0.0)
    best = int((reading.close + _COVERAGE * reading.coverage_nearby).argmax())
    return Support(float(reading.close[best]), float(reading.coverage_nearby[best]))


def enough(support: Support, floor: Floor) -> bool:
    """Whether the evidence may be answered from."""
    return support.strength >= floor.strength
