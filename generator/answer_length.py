"""How long an answer may be: short, usual or long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Length = Literal["short", "usual", "long"]


@dataclass(frozen=True, slots=True)
class AnswerLength:
    """The limits of an answer.

    Attributes:
        quotes: Most quotes of an answer of quotes.
        words: Most words of them, give or take 15 %.
        complete: Whether there are as many as that, not only until one is likely to answer.
        tokens: Most tokens of a generated answer.
    """

    quotes: int
    words: int
    complete: bool
    tokens: int


LENGTHS: dict[Length, AnswerLength | None] = {
    "short": AnswerLength(quotes=1, words=40, complete=False, tokens=60),
    "usual": None,
    "long": AnswerLength(quotes=10, words=240, complete=True, tokens=500),
}
"""By name; None is what the settings say."""
