"""How long an answer of quotes may be."""

from __future__ import annotations

from dataclasses import dataclass

from generator.extractive.fitted import FITTED


@dataclass(frozen=True, slots=True)
class QuoteLength:
    """How long an answer of quotes may be.

    Attributes:
        quotes: Most quotes; a quote is of one or more sentences of one utterance.
        words: Most words, give or take 15 %; the first sentence may be longer.
        enough: Sentences are taken until one of them answers with this probability, 0 to 1.
    """

    quotes: int = 6
    words: int = 120
    enough: float = FITTED.enough
