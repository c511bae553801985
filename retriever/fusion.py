"""Parts of a score into one: each part standardised over what is ranked, then weighted.

A part's scale differs from query to query (a BM25 of 3 can be much or little), so each is brought
to mean 0 and deviation 1 over the candidates first (z-score fusion: Lee, SIGIR 1997; Fox and Shaw,
TREC-2, for the weighted sum). Weights were fitted on the QMSum training split; docs/experiments.md
says how, and what each part gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A weighted choice of parts, by the names that `--explain` shows."""

    documents: Mapping[str, float] = field(default_factory=dict)
    passages: Mapping[str, float] = field(default_factory=dict)


RANKINGS: dict[str, Ranking] = {
    "default": Ranking(
        documents={
            "dense_passages": 0.70,  # each sentence's most similar passage, summed
            "bm25_passages": 0.59,  # each sentence's best passage by BM25, summed
            "bigram_passages": 0.36,  # the same by pairs of stems
            "bm25_document": 0.71,  # whole query, whole document
            "bigram_document": 0.29,
        },
        passages={
            "dense": 0.8,  # whole query, passage
            "bm25": 0.8,
            "bigram": 0.2,
            "document": 1.0,  # the score of its document: good documents lift their passages
        },
    ),
    "dense": Ranking(documents={"dense_document": 1.0}, passages={"dense": 1.0}),
    "bm25": Ranking(documents={"bm25_document": 1.0}, passages={"bm25": 1.0}),
}


def standardise(scores: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1 over the finite entries; -inf stays, equal scores become 0."""
    finite = np.isfinite(scores)
    if not finite.any():
        return scores
    mean, deviation = scores[finite].mean(), scores[finite].std()
    scaled = (scores - mean) / deviation if deviation > 1e-6 else np.where(finite, 0.0, scores)
    return np.asarray(scaled, np.float32)


def fuse(
    parts: Mapping[str, FloatArray], weights: Mapping[str, float]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """The weighted sum of standardised parts, and what each part gave to it."""
    given = {
        name: np.asarray(weight * standardise(parts[name]), np.float32)
        for name, weight in weights.items()
    }
    return np.asarray(sum(given.values()), np.float32), given
