"""The form of an answer (as usual, a list of points, only the words that answer), and its length.

Quotes stay verbatim: each stands on its line, and can be cut to the words that answer, where such
words stand out. A language model is told the form in its prompt, and may not keep to it. The
packaged one was tuned on one prompt, and writes sentences whatever is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexing.message import N_

Form = Literal["usual", "list", "words"]
Length = Literal["short", "usual", "long"]

FORMS: dict[Form, str] = {
    "usual": "",
    "list": 'Instead of sentences, write a list: one point a line, each beginning with "- ".',
    "words": "Instead of sentences, write only the few words that answer.",
}
"""By name, what a language model is told."""

AS_ASKED = N_("as asked in the prompt")
SENTENCES_ONLY = N_("sentences: the packaged model writes no other")
QUOTE_A_LINE = N_("a quote a line")
WORDS_ONLY = N_("the words that answer")
NO_WORDS = N_("whole quotes, as no words stand out")
"""What became of the form that was asked for, for a person to read."""


@dataclass(frozen=True, slots=True)
class AnswerLength:
    """The limits of an answer."""

    quotes: int  # most quotes of an answer of quotes
    words: int  # most words of them, give or take 15 %
    complete: bool  # whether there are as many as that, not only until one is likely to answer
    tokens: int  # most tokens of a generated answer


LENGTHS: dict[Length, AnswerLength | None] = {
    "short": AnswerLength(quotes=1, words=40, complete=False, tokens=60),
    "usual": None,
    "long": AnswerLength(quotes=10, words=240, complete=True, tokens=500),
}
"""By name; None is what the settings say."""
