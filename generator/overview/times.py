"""When something is due: the words of a sentence that say so, in English and German."""

from __future__ import annotations

import re

from indexing.text.days.stated_date import MONTH as _GERMAN_MONTH
from indexing.text.english import MONTHS, ORDINALS, UNITS

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART = r"(?:\s+(?:morning|afternoon|evening|night))"
_MONTH = rf"(?:{'|'.join(each for each in MONTHS if each != 'May')}|May(?=\s+\d|\s+the\b))"
_TEENS = "[a-z]+teenth|twentieth|twenty-[a-z]+|thirtieth|thirty-first"
_ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(ORDINALS[3:])}|{_TEENS})"
_NUMBER = rf"(?:\d{{1,2}}|{_ORDINAL}|{'|'.join(ORDINALS[:3])})"
_DATE = rf"""(?:
      (?:the\s+)?{_NUMBER}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}}\b)?
    | {_MONTH}\s+(?:the\s+)?{_NUMBER}\b(?:,?\s+\d{{4}}\b)?
    | \d{{4}}-\d\d-\d\d
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
    | the\s+weekend | christmas | easter
    )"""
_TAG = r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
_DATUM = rf"""(?:\d{{1,2}}\.\s?(?:{_GERMAN_MONTH})(?:\s\d{{4}})?\b
    |\d{{1,2}}\.\s?\d{{1,2}}\.(?:\d{{4}})?)"""
_PUNKT = rf"""(?:
      (?:(?:nächste|kommende|diese)[nrms]?\s+)?(?:{_TAG}|woche|monat|jahr|sitzung|treffen)\b
    | (?:dem\s+)?{_DATUM} | (?:(?:anfang|mitte|ende)\s+(?:der\s+woche|des\s+(?:monats|jahres)
        |{_GERMAN_MONTH}|(?:nächste|kommende|diese)[nrms]?\s+(?:woche|monats|jahres)))
    | heute | morgen | übermorgen | weihnachten | ostern
    )"""
_WHEN = re.compile(
    rf"""(?<!\bof\s)\b(?:
      (?P<due>(?:by|before|until|till)\s+{_POINT})
    | (?:on|at|from|after|for)\s+{_POINT}
    | (?:with)?in\s+(?:the\s+next\s+)?{_SOME}\s+(?:minute|hour|day|week|month)s?
    | (?:the\s+)?(?:next|following|coming)\s+(?:{_PERIOD}|{_DAY})
    | this\s+(?:week|month|{_DAY}) | this{_PART} | {_DAY}{_PART}? | {_DATE} | tomorrow{_PART}?
    | (?P<frist>(?:bis|vor)\s+(?:spätestens\s+)?(?:zum\s+|zur\s+|de[rmn]\s+)?{_PUNKT})
    | (?:am\s+)?{_DATUM} | (?:in\s+de[rn]\s+)?(?:nächste|kommende)[nrms]?\s+(?:{_TAG}|woche|monat)
    | in\s+(?:\d+|einer|zwei|drei|vier)\s+(?:tag|woche|monat)(?:en?)? | (?<!guten\s)\bmorgen | heute
    | tonight | later\s+today | today | after\s+(?:this|the)\s+meeting | as\s+soon\s+as\s+possible
    )(?<=[\w.])(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)


def time_expression(text: str) -> str | None:
    """The first words that say when, or by when if any do; None where none do."""
    matches = list(_WHEN.finditer(text))
    due = [match[0] for match in matches if match["due"] or match["frist"]]
    return next(iter(due or [match[0] for match in matches]), None)


def is_deadline(when: str) -> bool:
    """Whether a time expression says when something is to be done: "by Friday", "tomorrow"."""
    return bool(
        re.match(
            r"(?:by|before|tomorrow|next|the\s+next|tonight|today|this\s+week|bis|vor|morgen|heute"
            r"|nächste\w*)\b",
            when,
            re.IGNORECASE,
        )
    )
