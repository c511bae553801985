"""Made series of meetings in which facts change: set, changed, confirmed, and talked about in vain.

Two halves with subjects, values and sentences of their own (`wording.json`): one that rules are
made on, and one that is only counted. A third set, "fitting", was written later to make rules on,
by somebody who had not read their words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, Literal

from indexing.text.english import MONTHS, ORDINALS

Half = Literal["developing", "counted", "fitting"]
Asked = Literal["latest", "past", "history", "undated"]

HALVES: tuple[Half, ...] = ("developing", "counted")
SETS: tuple[Half, ...] = (*HALVES, "fitting")
_WORDING = Path(__file__).with_name("wording.json")
_MEETINGS = (
    date(2025, 9, 8),
    date(2025, 10, 6),
    date(2025, 11, 10),
    date(2025, 12, 9),
    date(2026, 1, 13),
    date(2026, 2, 12),
)
_DATINGS = ("file name", "heading", "first lines", "spoken", "mixed")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a meeting says of a fact.

    Attributes:
        meeting: Number of the meeting.
        text: The words.
        value: The value that holds from then on, if the words have it; "" for talk.
    """

    meeting: int
    text: str
    value: str


@dataclass(frozen=True, slots=True)
class SeriesQuestion:
    """A question on a fact of a series.

    Attributes:
        text: The question.
        asked: The latest word, that of a month, how it changed; or the latest, without any dates.
        values: Those that held, in order, until what is asked: the last one answers.
        others: Other values that were talked about or held later.
        until: The last meeting that counts.
    """

    text: str
    asked: Asked
    values: tuple[str, ...]
    others: tuple[str, ...]
    until: int


@dataclass(frozen=True, slots=True)
class Series:
    """Meetings of a group.

    Attributes:
        name: Of the group.
        files: Text of each file, by its name, in the order of the meetings.
        questions: On their facts.
    """

    name: str
    files: Mapping[str, str]
    questions: tuple[SeriesQuestion, ...]


def made_series(half: Half, *, seed: int = 7) -> Iterator[Series]:
    """The series of a half or of the third set, the last without any dates."""
    wording = json.loads(_WORDING.read_text("utf-8"))[half]
    random = Random(f"{half} {seed}")
    for number, group in enumerate(wording["groups"]):
        yield _series(wording, group, _DATINGS[number % len(_DATINGS)], random)
    yield _series(wording, "Quill", "", random)


def _series(wording: Any, group: str, dating: str, random: Random) -> Series:  # noqa: ANN401 - JSON
    said: list[list[str]] = [
        random.sample(wording["fillers"], random.randint(5, 9)) for _ in _MEETINGS
    ]
    questions: list[SeriesQuestion] = []
    for kind in wording["kinds"].values():
        noun, _, verb = random.choice(kind["subjects"]).partition("|")
        names = {"noun": noun, "Noun": noun[0].upper() + noun[1:], "verb": verb}
        values = random.sample(kind["values"], 4)
        told = list(_told(kind, names, values, random))
        for one in told:
            said[one.meeting].insert(random.randint(1, len(said[one.meeting])), one.text)
        asked = _questions(kind, names, told, values, random)
        questions += asked if dating else [_undated(asked[0])]
    files = {
        _file_name(group, number, dating): _document(wording, group, number, dating, lines, random)
        for number, lines in enumerate(said)
    }
    return Series(group, files, tuple(questions))


def _told(
    kind: Mapping[str, list[str]], names: Mapping[str, str], values: list[str], random: Random
) -> Iterator[Statement]:
    """A fact's course: set, changed once or twice, and talk between and after."""
    changes = random.choice((1, 1, 2))
    course = ["set", *["change"] * changes, random.choice(("confirm", "drop", "quote"))]
    if random.random() < 0.5:
        course.insert(random.randint(1, len(course) - 1), "drop")
    meetings = sorted(random.sample(range(len(_MEETINGS)), len(course)))
    holds, old, next_values = "", "", iter(values[:3])
    for meeting, event in zip(meetings, course, strict=True):
        if event in {"set", "change"}:
            holds, old = next(next_values), holds
        template = random.choice(kind[event])
        told = {"value": holds, "old": old, "other": values[3]}
        text = template.format(**told, **names)
        states = event != "quote" and holds in text
        yield Statement(meeting, text[0].upper() + text[1:], holds if states else "")


def _questions(
    kind: Mapping[str, list[str]],
    names: Mapping[str, str],
    told: list[Statement],
    values: list[str],
    random: Random,
) -> list[SeriesQuestion]:
    def question(asked: Asked, form: str, until: int, month: str = "") -> SeriesQuestion:
        held = tuple(dict.fromkeys(one.value for one in told if one.value and one.meeting <= until))
        others = tuple(each for each in values if each not in held)
        text = random.choice(kind[form]).format(**names, month=month)
        return SeriesQuestion(text, asked, held, others, until)

    last = len(_MEETINGS) - 1
    changes = [one.meeting for one in told if one.value]
    past = random.randint(changes[0], changes[-1] - 1)
    return [
        question("latest", "ask", last),
        question("past", "was", past, MONTHS[_MEETINGS[past].month - 1]),
        question("history", "how", last),
    ]


def _undated(one: SeriesQuestion) -> SeriesQuestion:
    return SeriesQuestion(one.text, "undated", one.values, one.others, one.until)


def _file_name(group: str, number: int, dating: str) -> str:
    dated = dating == "file name" or (dating in {"mixed", "spoken"} and number == 0)
    day = f"{_MEETINGS[number].isoformat()}-" if dated else ""
    return f"{day}{group.lower()}-{'abcdef'[number]}.txt"


def _document(
    wording: Any,  # noqa: ANN401 - JSON
    group: str,
    number: int,
    dating: str,
    lines: list[str],
    random: Random,
) -> str:
    """Minutes below a heading, or what people say, one after another."""
    form = random.choice(_DATINGS[1:4]) if dating == "mixed" else dating
    day = _MEETINGS[number]
    if form in {"heading", "first lines"}:
        written = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
        heading = random.choice(wording["heading"]).format(group=group, day=written)
        mark = "- " if form == "heading" else ""
        return "\n\n".join([heading, *(f"{mark}{line}" for line in lines)]) + "\n"
    spoken = f"{_WEEKDAYS[day.weekday()]} the {ORDINALS[day.day - 1]} of {MONTHS[day.month - 1]}"
    openings = wording["opening" if form == "spoken" else "undated"]
    opening = random.choice(openings).format(group=group, day=spoken)
    speakers = random.sample(wording["people"], 4)
    said = [f"{random.choice(speakers)}: {line}" for line in lines]
    return "\n".join([f"{speakers[0]}: {opening}", *said]) + "\n"
