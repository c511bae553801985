"""The floor under the evidence: below it the documents do not say, and nothing is generated.

Two signs that need no model: how close the best evidence sentence is to the question, and how
much of what is rare in the question occurs in the evidence at all. A question about something the
documents never name has a low coverage even when its topic sounds familiar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generator.evidence import Sentence, Vectors
from generator.terms import Rarity, content_stems


@dataclass(frozen=True, slots=True)
class Support:
    """How well the evidence fits the question.

    Attributes:
        similarity: Cosine of the question and the closest evidence sentence, -1 to 1.
        coverage: Share of the question's words, weighted by rarity, that the evidence has, 0 to 1.
    """

    similarity: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Floor:
    """What evidence must reach to be answered from.

    Evidence is enough when both signs reach their floor, or when similarity alone reaches `alone`,
    for questions in other words than the documents'.

    Attributes:
        similarity: Least similarity.
        coverage: Least coverage.
        alone: Similarity that needs no coverage.
    """

    similarity: float = 0.25
    coverage: float = 0.35
    alone: float = 0.6


def support(
    question: str, question_vector: Vectors, found: Sequence[Sentence], vectors: Vectors
) -> Support:
    """The two signs for one question.

    Args:
        question: As asked.
        question_vector: Its vector, (d,).
        found: Evidence sentences.
        vectors: Theirs, (n, d).
    """
    if not found:
        return Support(similarity=-1.0, coverage=0.0)
    stems = [content_stems(sentence.text) for sentence in found]
    speakers = [content_stems(sentence.speaker or "") for sentence in found]
    there = {stem for each in stems + speakers for stem in each}
    coverage = Rarity(stems).share(content_stems(question), there)
    return Support(float((vectors @ question_vector).max()), coverage)


def enough(support: Support, floor: Floor) -> bool:
    """Whether the evidence may be answered from."""
    if support.similarity >= floor.alone:
        return True
    return support.similarity >= floor.similarity and support.coverage >= floor.coverage
