"""Days as people say them in questions: "4 April" for "2025-04-04" or "Fri 4 Apr"."""

from __future__ import annotations

import re

from indexing.text.days.stated_date import GERMAN_MONTHS, MONTH, MONTH_NUMBERS
from indexing.text.english import MONTHS

_SHORT_MONTH = "|".join(dict.fromkeys(name[:3] for name in MONTH_NUMBERS))
_DAY = re.compile(
    r"\b(?:\d{4}-(?P<month>\d\d)-(?P<day>\d\d)"
    r"|(?P<first>\d{1,2})\.(?P<second>\d{1,2})\.(?:\d{4})?"
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

    return _DAY.sub(said, value)
