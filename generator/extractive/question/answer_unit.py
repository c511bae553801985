"""The unit that a question asks for: "How many hours ...?" is not answered in seconds."""

from __future__ import annotations

import re

_UNITS: tuple[tuple[str, ...], ...] = (
    ("milliseconds?", "ms", "Millisekunden?"),
    ("seconds?", "secs?", "Sekunden?"),
    ("minutes?", "mins?", "Minuten?"),
    ("hours?", "hrs?", "Stunden?"),
    ("days?", "Tagen?", "Tage", "Tag"),
    ("weeks?", "Wochen?"),
    ("months?", "Monaten?", "Monate", "Monat"),
    ("years?", "yrs?", "Jahren?", "Jahre", "Jahr"),
    ("percent", "per cent", "%", "Prozent"),
    ("millimet(?:er|re)s?", "mm", "Millimetern?"),
    ("centimet(?:er|re)s?", "cm", "Zentimetern?"),
    ("kilomet(?:er|re)s?", "km", "Kilometern?"),
    ("met(?:er|re)s?", "Metern?"),
    ("miles?", "Meilen?"),
    ("grams?", "Gramm"),
    ("kilograms?", "kilos?", "kg", "Kilogramm"),
    ("lit(?:er|re)s?", "Litern?"),
    ("dollars?", "Dollar"),
    ("euros?", "Euro"),
    ("pounds?", "Pfund"),
)
_UNIT = re.compile("|".join(f"({'|'.join(words)})" for words in _UNITS), re.IGNORECASE)
_ASKED = re.compile(
    rf"\b(?:how many|wie ?viele?)\s+(?:\w+\s+)?(?:{_UNIT.pattern})(?!\w)", re.IGNORECASE
)
_GIVEN = re.compile(rf"(?<=\d)[\s-]?(?:{_UNIT.pattern})(?!\w)", re.IGNORECASE)


def is_in_another_unit(question: str, text: str, start: int, end: int) -> bool:
    """Whether words are a number of one unit where the question asks for another one."""
    asked = _ASKED.search(question)
    if asked is None:
        return False
    given = [
        match.lastindex
        for match in _GIVEN.finditer(text, start, min(len(text), end + 15))
        if match.start() <= end + 1
    ]
    return bool(given) and asked.lastindex not in given
