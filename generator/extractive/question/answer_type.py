"""The type of answer that a question expects, and whether a sentence holds one of that type.

Words and forms of English and German; a question in another language expects no type in particular.
After the coarse answer types of question answering (Li and Roth, COLING 2002), of which those
stay that can be told from the words alone.
"""

from __future__ import annotations

import re
from typing import Literal

from indexing.text.english import MONTHS, ORDINALS, TENS, UNITS

AnswerType = Literal["reason", "time", "quantity", "person"]

# "What did they say when ...?" asks for no time, "the man who ..." for no person.
_FIRST = r"^(?:(?!\b(?:what|which|who|whose|whom|when|where|why|how|summari[sz]e|describe)\b).)*"

_QUESTION_PATTERNS: tuple[tuple[AnswerType, str], ...] = (
    ("reason", r"\b(why|(for )?what reasons?|reasons?|warum|weshalb|wieso)\b"),
    (
        "time",
        rf"{_FIRST}\bwhen\b|\b((what|which|at what|by what) (time|day|date|week|month|year)|date"
        r"|wann|welche[mnrs]? (tag|datum|jahr|monat|woche)|um wie ?viel uhr)\b",
    ),
    (
        "quantity",
        r"\bhow (much|many|long|deep|far|often|big|high|old|common|heavy)\b"
        r"|\bwie (viele?|lange|hoch|oft|weit|alt|teuer|tief|schwer)\b|\bwieviele?\b"
        r"|\b(kostet|kosten)\b"
        r"|\b(costs?|price)\b|\bwhat (is|was) the .*(value|number|budget|fee|limit)\b",
    ),
    ("person", rf"{_FIRST}\b(who|whose|whom)\b|\b(wem|wen|wessen)\b|^wer\b"),
)
"""In this order: "the reason why", "the date of the budget"."""

_OPEN = re.compile(
    r"\b(think|thinks|thought|thoughts|says?|said|opinions?|discuss\w*|feel|feels|felt|feelings?"
    r"|suggest\w*|propos\w*|talk\w*|describ\w*|explain\w*|summari[sz]\w*|conclu\w*|why|reasons?"
    r"|views?|attitudes?|concern\w*|consider\w*|react\w*|respon[ds]\w*|argu\w*|(dis)?advantages?"
    r"|problems?|issues?|ideas?|details?|(dis)?agree\w*|comment\w*|recommend\w*|introduc\w*"
    r"|mention\w*|elaborate|perspectives?|difficult\w*|challeng\w*"
    r"|how (did|does|do|was|were|is|are|should|would|could|can))\b"
)
_SHORT = re.compile(
    rf"{_FIRST}\b(when|where|who|whom|whose)\b"
    r"|\b(how (many|much|long|old|far|often|big|high|large|tall|deep|late|early|fast)"
    r"|(what|which) (time|day|date|year|month|week|name|number|percent\w*|colou?r|price"
    r"|city|country|team|company|kind|type|person))\b"
)

_DAYS = "|".join([*ORDINALS[:12], "[a-z]+teenth|twentieth|thirtieth|twenty-[a-z]+|thirty-first"])
_MONTHS = "|".join([*(month for month in MONTHS if month != "May"), "(of|in) may|may(?= \\d)"])
_ROUND = ("hundred", "thousand", "million", "half", "quarter", "third")
_AMOUNTS = "|".join([*UNITS[1:], *TENS, *_ROUND])
_ANSWER_PATTERNS: dict[AnswerType, re.Pattern[str]] = {
    "reason": re.compile(
        r"\b(because|since|so that|reasons?|due to|therefore|otherwise|caused?|that's why|thus"
        r"|owing|too|weil|wegen|deshalb|daher|darum|deswegen|aufgrund|damit)\b",
        re.IGNORECASE,
    ),
    "time": re.compile(
        rf"\b({_MONTHS}|(mon|tues|wednes|thurs|fri|satur|sun)day|the ({_DAYS})|noon|midnight"
        r"|januar|februar|märz|mai|juni|juli|oktober|dezember|(mon|diens|donners|frei|sams|sonn)tag"
        r"|mittwoch|uhr|o'clock|(19|20)\d\d|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m)\b",
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


def is_open(question: str) -> bool:
    """Whether a question asks for more than a few words: for views, reasons, ways."""
    plain = question.lower()
    return bool(_OPEN.search(plain)) and not _SHORT.search(plain)
