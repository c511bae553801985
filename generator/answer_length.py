"""How long an answer may be, in a person's words: short, usual, long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from generator.extractive.selector import QuoteLength

Length = Literal["short", "usual", "long"]


@dataclass(frozen=True, slots=True)
class AnswerLength:
    """The limits of an answer.

    Attributes:
        quotes: Of an answer of quotes.
        tokens: Most tokens of a generated one.
    """

    quotes: QuoteLength
    tokens: int


LENGTHS: dict[Length, AnswerLength | None] = {
    "short": AnswerLength(QuoteLength(quotes=1, words=40), tokens=60),
    "usual": None,
    "long": AnswerLength(QuoteLength(quotes=10, words=240, enough=1.0), tokens=500),
}
"""By name; None is what the settings say. No sentence is enough for a long answer of quotes."""
