"""How long an answer of quotes may be."""

from __future__ import annotations

from dataclasses import dataclass

from generator.extractive.fitted import FITTED


@dataclass(frozen=True, slots=True)
class QuoteLength:
    """How long an answer of quotes may be."""

    quotes: int = 6  # most quotes, each of one or more sentences of one utterance
    words: int = 120  # most words, give or take 15 %; the first sentence may be longer
    enough: float = FITTED.enough  # until one answers with this probability
