"""The day that words such as "by Friday" or "bis 12. Mai" mean, said on a day that is known.

Only what can be read in one way is read: "next Friday" and "the end of the week" are no day.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from indexing.text.days.dates import date_in
from indexing.text.days.stated_date import DAY_NUMBERS, MONTH, MONTH_NUMBERS, WEEKDAYS
from indexing.text.english import UNITS

_BEFORE = re.compile(
    r"^(?:(?:by|before|until|till|on|at|from|for|bis|vor|am|spätestens|zum|zur|dem|den|the|of)\s+)+",
    re.IGNORECASE,
)
_WOCHENTAGE = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_SOON = {"today": 0, "tonight": 0, "later today": 0, "heute": 0, "tomorrow": 1, "morgen": 1}
_SOON |= {"übermorgen": 2, "in einer woche": 7}
_NAMED = {"christmas": (12, 25), "weihnachten": (12, 25)}
_DAY = rf"(?P<day>\d{{1,2}}|{'|'.join(sorted(DAY_NUMBERS, key=len, reverse=True))})"
_OF_MONTH = re.compile(
    rf"{_DAY}(?:st|nd|rd|th|\.)?\s?(?:of\s+)?(?P<month>{MONTH})\b"
    rf"|(?P<first>{MONTH})\s+(?:the\s+)?(?P<second>\d{{1,2}})(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.$")
_OF_THIS = re.compile(rf"{_DAY}(?:st|nd|rd|th|\.)?$", re.IGNORECASE)
_END = re.compile(
    rf"(?:end\s+of\s+(?:the\s+|this\s+)?|ende\s+(?:des\s+)?)(?P<of>month|monats|year|jahres|{MONTH})$",
    re.IGNORECASE,
)
_LATER = re.compile(
    rf"(?:with)?in\s+(?:the\s+next\s+)?(?P<n>\d{{1,3}}|{'|'.join(UNITS[1:13])}|a|an|zwei|drei|vier)\s+"
    r"(?P<unit>day|week|tag|woche)(?:s|en?)?$",
    re.IGNORECASE,
)
_JUST = 90  # days for which a day without a year may be meant that has been
_NUMBERS = {word: number for number, word in enumerate(UNITS)}
_NUMBERS |= {"a": 1, "an": 1, "zwei": 2, "drei": 3, "vier": 4}


def day_meant(words: str, on: str) -> str:
    """The day that somebody means, in ISO 8601; "" where it is not certain.

    Args:
        words: That say until when.
        on: The day on which they are said, in ISO 8601; "" for an unknown one.
    """
    if written := date_in(words):
        return written[:10]
    try:
        said = date.fromisoformat(on[:10])
    except ValueError:
        return ""
    text = _BEFORE.sub("", " ".join(words.split())).lower()
    try:
        found = _soon(text, said) or _of_month(text, said) or _end(text, said)
    except (ValueError, OverflowError):
        return ""
    return found.isoformat() if found else ""


def _soon(text: str, said: date) -> date | None:
    """Of days that are near: "tomorrow", "Friday morning", "in two weeks"."""
    if text in _SOON:
        return said + timedelta(_SOON[text])
    if match := _LATER.match(text):
        number = int(match["n"]) if match["n"].isdigit() else _NUMBERS[match["n"]]
        return said + timedelta(number * (7 if match["unit"] in {"week", "woche"} else 1))
    day = re.sub(r"^(?:this|coming|kommende[nmr]?|diese[nmr]?)\s+", "", text).partition(" ")[0]
    for names in (WEEKDAYS, _WOCHENTAGE):
        if day in names:
            return said + timedelta((names.index(day) - said.weekday() - 1) % 7 + 1)
    return said + timedelta(1) if text.startswith("tomorrow ") else None


def _of_month(text: str, said: date) -> date | None:
    """Of the calendar, without a year: the next such day, if none has just been."""
    if text in _NAMED:
        return _next(said, *_NAMED[text])
    if match := _OF_MONTH.match(text):
        month = MONTH_NUMBERS[(match["month"] or match["first"]).lower()]
        return _next(said, month, _number(match["day"] or match["second"]))
    if match := _NUMERIC.match(text):
        return _next(said, int(match[2]), int(match[1]))
    if match := _OF_THIS.match(text):
        day = _number(match["day"])
        later = said.replace(day=1) + timedelta(32) if day <= said.day else said
        return later.replace(day=day)
    return None


def _end(text: str, said: date) -> date | None:
    """The last day of a month or of the year."""
    match = _END.match(text)
    if match is None:
        return None
    of = match["of"]
    if of in {"year", "jahres"}:
        return date(said.year, 12, 31)
    month = MONTH_NUMBERS.get(of, said.month)
    year = said.year + (month < said.month)
    return date(year, month, monthrange(year, month)[1])


def _next(said: date, month: int, day: int) -> date | None:
    this_year = date(said.year, month, day)
    if this_year >= said:
        return this_year
    return this_year.replace(year=said.year + 1) if (said - this_year).days > _JUST else None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else DAY_NUMBERS[word.lower()]
