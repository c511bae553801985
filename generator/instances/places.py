"""Places where documents say what is asked for: of each passage its best statement, and how surely.

Two searches caught the passages, one by words and one by vectors; the reader reads what either has
caught, and the probability that a passage is one of those asked for is a logistic function of what
it says of the best sentence and of both catches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from generator.evidence import Sentence, Span, evidence_sentences
from indexing.documents import Document
from indexing.text.aliases import NO_ALIASES, Aliases

if TYPE_CHECKING:
    from generator.reader.reading import Reading

BIAS = -1.71
WEIGHTS = {"relevance": 0.362, "words": -0.106, "answerable": 0.26}
"""Fitted on meetings with marked utterances (`python -m benchmarks every --fit`)."""
_LOGIT, _SPAN_LOGITS = 10.0, 20.0  # bounds of what the reader says

Read = Callable[[str, Sequence[Sentence]], "Reading"]
Passage = tuple[Span, ...]
"""A passage that was caught; of a speaker, each thing that they say in it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A passage that was read."""

    statement: Sentence  # the sentence of it that answers best
    words: str  # the words of that which do; "" where none was found
    features: Mapping[str, float]  # what its probability is made of, by name
    both: bool = False  # whether both searches caught it

    @property
    def document(self) -> Document:
        """Where it stands."""
        return self.statement.document

    @property
    def probability(self) -> float:
        """That it is one of those asked for, 0 to 1."""
        total = sum(WEIGHTS[name] * value for name, value in self.features.items())
        return 1 / (1 + math.exp(-(BIAS + total)))


def places(
    question: str, passages: Sequence[Passage], *, read: Read, aliases: Aliases = NO_ALIASES
) -> list[Place | None]:
    """What the reader says of passages of one document; None of one without a sentence."""
    every = [evidence_sentences(one, aliases) for one in passages]
    reading = read(question, [sentence for own in every for sentence in own])
    ends = [*accumulate(map(len, every))]
    return [
        _place(own, reading, slice(end - len(own), end)) if own else None
        for own, end in zip(every, ends, strict=True)
    ]


def _place(own: Sequence[Sentence], reading: Reading, at: slice) -> Place:
    relevance = np.clip(reading.relevance[at], -_LOGIT, _LOGIT)
    best = int(relevance.argmax())
    found = reading.words[at][best]
    statement = own[best]
    words = statement.document.text[found.start : found.end] if found else ""
    spans = np.clip(reading.spans[at], -_SPAN_LOGITS, _SPAN_LOGITS)
    answerable = np.clip(reading.answerable[at], -_LOGIT, _LOGIT)
    features = {
        "relevance": float(relevance[best]),
        "words": float(spans.max()),
        "answerable": float(answerable.max()),
    }
    return Place(statement, words, features)
