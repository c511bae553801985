"""The date that a document states of itself: in its title, or in its first lines.

Rows of a table have dates of other things. Written dates are read as in `dates`; a month with its
year counts, too. A spoken one without a year ("Monday the sixth of October") is of the year in
which that day is a Monday, near the other dates.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date

from indexing.text.days.dates import EARLIEST, LATEST, date_in, dates_in
from indexing.text.english import MONTHS, ORDINALS
from indexing.text.tables import is_row

_HEAD = 600  # characters in which a document says of what day it is
_GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
GERMAN_MONTHS = tuple(_GERMAN.split())
MONTH_NUMBERS = {
    name.lower(): number
    for names in (MONTHS, GERMAN_MONTHS)
    for number, name in enumerate(names, start=1)
}
MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_OF_MONTH = re.compile(rf"\b({MONTH}),? (\d{{4}})\b", re.IGNORECASE)
DAY_NUMBERS = {
    word: number
    for number, word in enumerate(
        [*ORDINALS, "twentieth", *(f"twenty-{each}" for each in ORDINALS[:9])], start=1
    )
} | {"thirtieth": 30, "thirty-first": 31}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = "|".join(sorted(DAY_NUMBERS, key=len, reverse=True))
_SPOKEN = re.compile(
    rf"(?:\b(?P<before>{'|'.join(WEEKDAYS)}),? )?(?:the )?"
    rf"\b(?P<day>{_DAY}) (?:of )?(?P<month>{MONTH})\b"
    rf"(?:,? (?:a )?(?P<after>{'|'.join(WEEKDAYS)})\b)?",
    re.IGNORECASE,
)


def stated_date(
    title: str, text: str, *, years: Collection[int] = (), today: date | None = None
) -> str:
    """A day ("2026-03-14") or a month ("2026-03") in ISO 8601; "" where none is stated.

    Args:
        title: The document's name.
        text: The document, or its beginning.
        years: Those of other documents, for a day that is spoken without its year.
        today: The day before which one with its weekday was, where there are no such years; None
            for one that may not be guessed.
    """
    head = "\n".join(line for line in text[:_HEAD].split("\n") if not is_row(line))
    first = min(dates_in(head), key=lambda found: found[1], default=None)
    return (
        date_in(title)[:10]
        or (first[0][:10] if first else "")
        or _month_in(title)
        or _spoken(head, years, today)
        or _month_in(head)
    )


def _month_in(text: str) -> str:
    """The only month of a text that is written with its year."""
    found = {(int(year), MONTH_NUMBERS[name.lower()]) for name, year in _OF_MONTH.findall(text)}
    if len(found) != 1:
        return ""
    ((year, month),) = found
    return f"{year}-{month:02d}" if EARLIEST <= year <= LATEST else ""


def _spoken(text: str, years: Collection[int], today: date | None) -> str:
    """The first day that is spelled out, in the year that its weekday tells."""
    match = _SPOKEN.search(text)
    if match is None:
        return ""
    month, day = MONTH_NUMBERS[match["month"].lower()], DAY_NUMBERS[match["day"].lower()]
    weekday = (match["before"] or match["after"] or "").lower()
    near = sorted({each + step for each in years for step in (-1, 0, 1)})
    near.sort(key=lambda each: (each not in years, -each))
    if not years and today and weekday:
        near = [today.year - step for step in range(-1, 5)]
    for year in near:
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if not weekday or WEEKDAYS[found.weekday()] == weekday:
            return found.isoformat()
    return ""
