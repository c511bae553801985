"""Dates as people write them in names of files and at the head of a text.

Only what can be read in one way is read: "3/4/2026" is no date, for it is one day here and another
there, and neither is a name with two different dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from indexing.text.english import MONTHS

EARLIEST, LATEST = 1900, 2100  # years

_NUMBER_OF_MONTH = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}
_GERMAN_MONTHS = {"mär": 3, "mai": 5, "okt": 10, "dez": 12}
_MONTH = (
    r"(?P<name>jan(?:uar[iy]?|uary)?|feb(?:ruary?|ruar)?|mar(?:ch)?|märz?|apr(?:il)?|may|mai"
    r"|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|dez(?:ember)?)\.?"
)
_TIME = (
    r"(?:(?:T|[ _,-]+(?:at |um )?)"
    r"(?:(?P<h>\d{1,2})(?P<mark>[:._-])(?P<m>\d{2})(?:(?P=mark)(?P<s>\d{2}))?(?![\d.:]*\d)"
    r"|(?P<hms>\d{6})(?!\d))(?:\s?(?P<half>[AaPp])\.?[Mm]\b\.?)?(?P<zone>Z|\s?(?:GMT|UTC)\b"
    r"(?![+-]\d))?)?"
)
_START = r"(?<![\d.])"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        # 2026-03-14, 2026_03_14, 2026/03/14, 2026.03.14
        rf"{_START}(?P<year>\d{{4}})(?P<sep>[-_./ ])(?P<month>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}})"
        rf"(?!\d){_TIME}",
        # 20260314
        rf"{_START}(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d){_TIME}",
        # 14.3.2026; 14-03-2026 and 03/14/2026 where only one reading is a date
        r"(?<![^\W_])(?<!\.)(?P<first>\d{1,2})(?P<sep>[-_./])\s?(?P<second>\d{1,2})(?P=sep)\s?"
        rf"(?P<year>\d{{4}})(?!\.?\d){_TIME}",
        # 14 March 2026, 14. März 2026, 14-Mar-2026
        rf"{_START}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[ _-]{{0,2}}(?:of )?{_MONTH},?[ _-]"
        rf"(?P<year>\d{{4}})(?!\d){_TIME}",
        # March 14, 2026
        rf"(?<![^\W_]){_MONTH}[ _-](?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[ _-](?P<year>\d{{4}})(?!\d)"
        rf"{_TIME}",
    )
)


def date_in(text: str) -> str:
    """The only date in a short text, in ISO 8601, with its time where that is written behind it.

    "" where there is none, or several that differ.
    """
    dates = {date[:10]: date for date, _, _ in sorted(dates_in(text))}
    return next(iter(dates.values())) if len(dates) == 1 else ""


def dates_in(text: str) -> Iterator[tuple[str, int, int]]:
    """The dates in a text, in ISO 8601, each with its first character and one past the last."""
    for form in _FORMS:
        for match in form.finditer(text):
            day = _day(match)
            if day is not None:
                yield day.isoformat()[:10] + _time(match), match.start(), match.end()


def _day(match: re.Match[str]) -> datetime | None:
    values = match.groupdict()
    year = int(values["year"])
    if not EARLIEST <= year <= LATEST:
        return None
    if values.get("first"):
        return _day_and_month(int(values["first"]), int(values["second"]), year, values["sep"])
    name = (values.get("name") or "")[:3].lower()
    month = _NUMBER_OF_MONTH.get(name) or _GERMAN_MONTHS.get(name)
    return _valid(year, month or int(values["month"]), int(values["day"]))


def _day_and_month(first: int, second: int, year: int, mark: str) -> datetime | None:
    """Day before month with dots, as no one writes otherwise; else only if one reading is left."""
    day_first, month_first = _valid(year, second, first), _valid(year, first, second)
    if mark == "." or day_first == month_first or month_first is None:
        return day_first
    return month_first if day_first is None else None


def _valid(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day)
    except ValueError:
        return None


def _time(match: re.Match[str]) -> str:
    """The time behind a day, as ISO 8601 continues; "" where there is none."""
    whole, half = match["hms"], (match["half"] or "").lower()
    if whole:
        hours, minutes, seconds = (int(whole[at : at + 2]) for at in (0, 2, 4))
    elif match["h"]:
        hours, minutes, seconds = int(match["h"]), int(match["m"]), int(match["s"] or 0)
    else:
        return ""
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        return ""
    return f"T{hours:02d}:{minutes:02d}:{seconds:02d}{'+00:00' if match['zone'] else ''}"
