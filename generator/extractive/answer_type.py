"""The type of answer that a question expects, and whether a sentence holds one of that type.

Words and forms of English only; a question in another language expects no type in particular.
After the coarse answer types of question answering (Li and Roth, COLING 2002), of which those
stay that can be told from the words alone.
"""

from __future__ import annotations

import re
from typing import Literal

from indexing.text.english import MONTHS, ORDINALS, TENS, UNITS

AnswerType = Literal["reason", "time", "quantity", "person"]

_QUESTION_PATTERNS: tuple[tuple[AnswerType, str], ...] = (
    ("reason", r"\b(why|(for )?what reasons?|reasons?)\b"),
    ("time", r"\b(when|(what|which|at what|by what) (time|day|date|week|month|year)|date)\b"),
    (
        "quantity",
        r"\bhow (much|many|long|deep|far|often|big|high|old|common|heavy)\b"
        r"|\b(costs?|price)\b|\bwhat (is|was) the .*(value|number|budget|fee|limit)\b",
    ),
    ("person", r"\b(who|whose|whom)\b"),
)
"""In this order: "the reason why", "the date of the budget"."""

_DAYS = "|".join([*ORDINALS[:12], "[a-z]+teenth|twentieth|thirtieth|twenty-[a-z]+|thirty-first"])
_MONTHS = "|".join([*(month for month in MONTHS if month != "May"), "(of|in) may|may(?= \\d)"])
_ROUND = ("hundred", "thousand", "million", "half", "quarter", "third")
_AMOUNTS = "|".join([*UNITS[1:], *TENS, *_ROUND])
_ANSWER_PATTERNS: dict[AnswerType, re.Pattern[str]] = {
    "reason": re.compile(
        r"\b(because|since|so that|reasons?|due to|therefore|otherwise|caused?|that's why|thus"
        r"|owing|too)\b",
        re.IGNORECASE,
    ),
    "time": re.compile(
        rf"\b({_MONTHS}|(mon|tues|wednes|thurs|fri|satur|sun)day|the ({_DAYS})|noon|midnight"
        r"|o'clock|(19|20)\d\d|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m)\b",
        re.IGNORECASE,
    ),
    "quantity": re.compile(rf"\d|\b({_AMOUNTS})\b", re.IGNORECASE),
    "person": re.compile(r"\bI\b|(?<!^)(?<![.?!] )\b[A-Z][a-z]+"),  # "I", or a name within
}


def classify_question(question: str) -> AnswerType | None:
    """The expected answer type, or None when the question's words do not tell."""
    plain = " ".join(re.findall(r"[a-z]+|\d+", question.lower()))
    return next((kind for kind, pattern in _QUESTION_PATTERNS if re.search(pattern, plain)), None)


def has_answer_type(kind: AnswerType, text: str) -> bool:
    """Whether a sentence holds a reason, a time, a quantity, or a person."""
    return _ANSWER_PATTERNS[kind].search(text) is not None
