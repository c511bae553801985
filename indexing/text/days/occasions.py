"""When a meeting took place and who took part, from the lines above its first words.

Such as "Date: 14 March 2026", "Attendees: Ada Park, Bob Stone", or a line that is only a date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from indexing.documents import Occasion, Utterance
from indexing.text.days.dates import date_in, dates_in

FIRST_LINES = "first lines"  # as a source
FILE_NAME = "file name"
FOLDER_NAME = "folder name"

_LINES = 25  # lines that are looked at
_LINE = 400  # characters of one
_BARE = 80  # the same of one that is a date
_TITLE = 160  # the same of a title
_MANY = 200  # participants

_LABELLED_DATE = re.compile(
    r"[\s#>*_-]*(?:(?:meeting|session|call|interview|recording|recorded|start|event)[ _-]*)?"
    r"(?:date|dated|date and time|time|when|started|recorded(?: on)?|held on|on|datum|sitzung vom)"
    r"\s*(?:\*\*|__)?\s*[:\uff1a]\s*(?:\*\*|__)?(?P<rest>.+)",
    re.IGNORECASE,
)
_LABELLED_PEOPLE = re.compile(
    r"[\s#>*_-]*(?:(?:meeting|all)\s+)?"
    r"(?:attendees|participants|present|in attendance|attending|speakers|people|members present"
    r"|teilnehmer(?:innen)?|teilnehmende|anwesend)"
    r"\s*(?:\(\d+\))?\s*(?:\*\*|__)?\s*(?P<colon>[:\uff1a])?\s*(?:\*\*|__)?\s*(?P<rest>.*)",
    re.IGNORECASE,
)
# What may stand beside the date in a line that is one: a day of the week, a time, a length.
_BESIDE_DATE = re.compile(
    r"[\s,;|()\u2022\u00b7\u2013-]|\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[ap]m\b)?"
    r"|\b(?:at|um|uhr|utc|gmt|[a-z]{2,4}t|\d+\s?(?:h|hr|hours?|m|min|minutes?|s|sec|seconds?))\b"
    r"|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?",
    re.IGNORECASE,
)
_ZOOM_FOLDER = re.compile(r"\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\b")
_SEPARATOR = re.compile(r"\s*[,;\u2022\u00b7|]\s*|\s+(?:and|und)\s+|\s+&\s+")
_ADDRESS = re.compile(r"\s*[<(\[][^<>()\[\]]*[>)\]]\s*$")
_SHARED_SCREEN = re.compile(r"['\u2019]s Presentation$")  # Google Meet lists it as an attendee
_NAME = re.compile(r"[^\W\d_][\w.'\u2019 -]{0,58}")
_NAME_WORDS = 5


def occasion_of(text: str, utterances: Sequence[Utterance]) -> Occasion:
    """Date and participants by the lines above the first utterance, or at the head of a text.

    In a text without utterances, only lines that say what they are ("Date: ...") count.
    """
    end = utterances[0].start if utterances else min(len(text), _LINES * _LINE)
    lines = [line[:_LINE].strip() for line in text[:end].split("\n", 4 * _LINES)[: 4 * _LINES]]
    lines = [line for line in lines if line][:_LINES]
    date = _labelled_date(lines) or (_date_of_title(lines) if utterances else "")
    people = _people(lines)
    return Occasion(date, FIRST_LINES if date else "", people, FIRST_LINES if people else "")


def is_labelled(line: str) -> bool:
    """Whether a line says that what follows is the date, or those who were there."""
    people = _LABELLED_PEOPLE.fullmatch(line)
    return bool(_LABELLED_DATE.fullmatch(line) or (people and people["colon"]))


def date_of_file(path: str) -> tuple[str, str]:
    """The date in the name of a file, or of the folder of a recording by Zoom, and which of them.

    Empty where there is none. Other folders say nothing: theirs may be the day of a copy.
    """
    file = PurePath(path)
    if date := date_in(file.stem):
        return date, FILE_NAME
    if _ZOOM_FOLDER.match(file.parent.name) and (date := date_in(file.parent.name)):
        return date, FOLDER_NAME
    return "", ""


def _labelled_date(lines: Sequence[str]) -> str:
    dates = (date_in(match["rest"]) for line in lines if (match := _LABELLED_DATE.fullmatch(line)))
    return next(filter(None, dates), "")


def _date_of_title(lines: Sequence[str]) -> str:
    """The date of the first line, if it is a title and no sentence; else of a bare one."""
    first = lines[0] if lines else ""
    titled = len(first) < _TITLE and first[-1:] not in ".:;,?!"
    return _bare_date(lines) or (date_in(first) if titled else "")


def _bare_date(lines: Sequence[str]) -> str:
    """The date of a line that holds little else, such as "March 14, 2026, 9:30AM"."""
    for line in lines:
        dates = list(dates_in(line)) if len(line) < _BARE else []
        if len(dates) == 1:
            ((date, start, end),) = dates
            if not _BESIDE_DATE.sub("", line[:start]) + _BESIDE_DATE.sub("", line[end:]):
                return date
    return ""


def _people(lines: Sequence[str]) -> tuple[str, ...]:
    for at, line in enumerate(lines):
        match = _LABELLED_PEOPLE.fullmatch(line)
        if match is None or bool(match["rest"]) > bool(match["colon"]):
            continue
        rest = match["rest"] or (lines[at + 1] if at + 1 < len(lines) else "")
        if people := names_in(rest):
            return people
    return ()


def names_in(text: str) -> tuple[str, ...]:
    """The names of a list such as "Ada Park, Bob Stone and Cem Aydin"; () if it is no such list."""
    parts = [_ADDRESS.sub("", part).strip(" .*_") for part in _SEPARATOR.split(text)]
    names = [part for part in parts if part and not _SHARED_SCREEN.search(part)]
    if len(names) > _MANY or not all(map(_is_name, names)):
        return ()
    return tuple(dict.fromkeys(names))


def _is_name(text: str) -> bool:
    return (
        _NAME.fullmatch(text) is not None
        and len(text.split()) <= _NAME_WORDS
        and text[0].isupper() | (not text.isascii())
    )
