"""What kind of answer a question asks for, and whether a sentence holds something of that kind.

Words and forms of English only; a question in another language asks for nothing in particular.
After the coarse answer types of question answering (Li and Roth, COLING 2002), of which those
stay that can be told from the words alone.
"""

from __future__ import annotations

import re
from typing import Literal

Asked = Literal["reason", "time", "quantity", "person"]

_ASKS: tuple[tuple[Asked, str], ...] = (
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

_ORDINALS = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|[a-z]+teenth|twentieth|thirtieth|twenty-[a-z]+|thirty-first"
)
_MONTHS = (
    r"january|february|march|april|june|july|august|september|october|november|december"
    r"|(of|in) may|may(?= \d)"
)
_NUMBERS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    "|hundred|thousand|million|half|quarter|third"
)
_HOLDS: dict[Asked, re.Pattern[str]] = {
    "reason": re.compile(
        r"\b(because|since|so that|reasons?|due to|therefore|otherwise|caused?|that's why|thus"
        r"|owing|too)\b",
        re.IGNORECASE,
    ),
    "time": re.compile(
        rf"\b({_MONTHS}|(mon|tues|wednes|thurs|fri|satur|sun)day|the ({_ORDINALS})|noon|midnight"
        r"|o'clock|(19|20)\d\d|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m)\b",
        re.IGNORECASE,
    ),
    "quantity": re.compile(rf"\d|\b({_NUMBERS})\b", re.IGNORECASE),
    "person": re.compile(r"\bI\b|(?<!^)(?<![.?!] )\b[A-Z][a-z]+"),  # "I", or a name within
}


def asked(question: str) -> Asked | None:
    """What the question asks for, or None when its words do not tell."""
    plain = " ".join(re.findall(r"[a-z]+|\d+", question.lower()))
    return next((kind for kind, pattern in _ASKS if re.search(pattern, plain)), None)


def holds(kind: Asked, text: str) -> bool:
    """Whether a sentence has a reason, a time, a quantity, or a person in it."""
    return _HOLDS[kind].search(text) is not None
