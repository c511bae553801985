"""When something is due: the words of a sentence that say so."""

from __future__ import annotations

import re

from indexing.text.english import MONTHS, ORDINALS, UNITS

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART = r"(?:\s+(?:morning|afternoon|evening|night))"
_MONTH = rf"(?:{'|'.join(each for each in MONTHS if each != 'May')}|May(?=\s+\d|\s+the\b))"
_TEENS = "[a-z]+teenth|twentieth|twenty-[a-z]+|thirtieth|thirty-first"
_ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(ORDINALS[3:])}|{_TEENS})"
_NUMBER = rf"(?:\d{{1,2}}|{_ORDINAL}|{'|'.join(ORDINALS[:3])})"
_DATE = rf"""(?:
      (?:the\s+)?{_NUMBER}\s+(?:of\s+)?{_MONTH}
    | {_MONTH}\s+(?:the\s+)?{_NUMBER}\b
    | the\s+{_ORDINAL}
    )"""
_SOME = rf"(?:\d+|{'|'.join(UNITS[1:13])}|a|an|a\s+few|a\s+couple\s+of)"
_PERIOD = r"(?:week|weekend|month|quarter|year|term|meeting|session|call|sprint)"
_EDGE = r"(?:the\s+)?(?:end|start|beginning|middle)\s+of\s+(?:(?:the|this|next)\s+)?"
_HOUR = r"(?:\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\.?|o['’]clock)|noon|midnight|lunch(?:time)?)"  # noqa: RUF001
_POINT = rf"""(?:
      {_EDGE}(?:day|{_PERIOD}|{_MONTH})
    | (?:the\s+)?(?:next|this|following|coming)\s+(?:{_PERIOD}|{_DAY})
    | {_DAY}{_PART}? | {_DATE} | tomorrow{_PART}? | this{_PART} | {_HOUR}
    )"""
_WHEN = re.compile(
    rf"""(?<!\bof\s)\b(?:
      (?P<due>(?:by|before|until|till)\s+{_POINT})
    | (?:on|at|from|after|for)\s+{_POINT}
    | (?:with)?in\s+(?:the\s+next\s+)?{_SOME}\s+(?:minute|hour|day|week|month)s?
    | (?:the\s+)?(?:next|following|coming)\s+(?:{_PERIOD}|{_DAY})
    | this\s+(?:week|month|{_DAY}) | this{_PART} | {_DAY}{_PART}? | {_DATE} | tomorrow{_PART}?
    | tonight | later\s+today | today | after\s+(?:this|the)\s+meeting | as\s+soon\s+as\s+possible
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def time_expression(text: str) -> str | None:
    """The first words that say when, or by when if any do; None where none do."""
    matches = list(_WHEN.finditer(text))
    due = [match[0] for match in matches if match["due"]]
    return next(iter(due or [match[0] for match in matches]), None)


def is_deadline(when: str) -> bool:
    """Whether a time expression says when something is to be done: "by Friday", "tomorrow"."""
    return bool(re.match(r"by\b|before\b|tomorrow|next\b|the\s+next\b|tonight", when, re.I))
