"""Days in words: "4 April" for "2025-04-04" or "Fri 4 Apr", and how texts say a day."""

from __future__ import annotations

import re

from indexing.text.days.stated_date import GERMAN_MONTHS, MONTH, MONTH_NUMBERS
from indexing.text.english import MONTHS

_SHORT_MONTH = "|".join(dict.fromkeys(name[:3] for name in MONTH_NUMBERS))
DAY = re.compile(
    r"\b(?:\d{4}-(?P<month>\d\d)-(?P<day>\d\d)"
    r"|(?P<first>[0-3]?\d)\.(?P<second>0?[1-9]|1[0-2])\.(?:\d{4})?"
    r"|(?:(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-z]*\.?,? )?"
    rf"(?P<of_name>\d{{1,2}})\.? (?P<name>{MONTH}|(?:{_SHORT_MONTH}|sept)\.?))"
    r"(?:,? \d{4})?(?!\w)",
    re.IGNORECASE,
)


def day_in_words(value: str, language: str) -> str:
    """A value with its date as questions say it: "4 April" for "2025-04-04" or "Fri 4 Apr"."""

    def said(match: re.Match[str]) -> str:
        name = match["name"] or ""
        known = (each for full, each in MONTH_NUMBERS.items() if name[:3].lower() == full[:3])
        number = next(known) if name else int(match["month"] or match["second"])
        months = GERMAN_MONTHS if language == "de" else MONTHS
        day = int(match["day"] or match["first"] or match["of_name"])
        return f"{day} {months[number - 1]}" if 1 <= number <= len(months) else match[0]

    return DAY.sub(said, value)


def day_pattern(day: str) -> re.Pattern[str]:
    """How texts say a day, or a month, whatever the year."""
    number, *days = (int(each) for each in day.split("-")[1:])
    names = (name for name, each in MONTH_NUMBERS.items() if each == number)
    month = "|".join(f"{name}|{name[:3]}" for name in names)
    if not days:
        return re.compile(rf"\b(?:{month})\b", re.IGNORECASE)
    (of_month,) = days
    forms = (
        rf"(?:{month})\.? 0?{of_month}(?:st|nd|rd|th)?",
        rf"0?{of_month}(?:st|nd|rd|th|\.)? (?:of )?(?:{month})",
        rf"0?{of_month}\.\s?0?{number}\.",
        rf"\d{{4}}-{number:02d}-{of_month:02d}",
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", re.IGNORECASE)
