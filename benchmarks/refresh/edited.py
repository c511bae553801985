"""Made documents with facts that are asked for, and seeded edits of them.

Subjects, sentences and people are those of `benchmarks.latest_word`; each document is of a place of
its own, half of them minutes, half transcripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

from rag_app.proof.standing import Standing

Edit = Literal[
    "none", "value", "words", "cut", "above", "end", "below", "speaker", "removed", "renamed"
]
EDITS: tuple[Edit, ...] = Edit.__args__  # type: ignore[attr-defined]
_WORDING = Path(__file__).parents[1] / "latest_word" / "wording.json"
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_FIRST = (
    "Har", "Bram", "Tor", "Wes", "Lin", "Cal", "Dun", "Ash", "Fen", "Gil",
    "Mor", "Pel", "Stan", "Thorn", "Win", "Ox", "Ray", "Sel", "Ux", "Kil",
)  # fmt: skip
_LAST = ("wick", "ford", "combe", "stead", "ley", "mouth", "by", "thwaite", "hurst", "don")


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or two of a document.

    Attributes:
        name: Stays with it through all edits.
        text: The words.
        speaker: Who says them; "" in minutes.
    """

    name: str
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a document says and is asked for.

    Attributes:
        line: The name of the line that says it.
        question: Asks for it.
        value: Stands in the line.
        others: Further values of its kind.
        change: How another line says that it is another value now, with "{value}" and "{old}".
    """

    line: str
    question: str
    value: str
    others: tuple[str, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Made:
    """A document.

    Attributes:
        name: Of its file.
        heading: Its first line.
        lines: In order.
        facts: In some of them.
    """

    name: str
    heading: str
    lines: tuple[Line, ...]
    facts: tuple[Fact, ...] = field(default=())

    @property
    def text(self) -> str:
        """What its file holds."""
        end = "\n" if self.lines[0].speaker else "\n\n"
        said = [f"{one.speaker}: {one.text}" if one.speaker else one.text for one in self.lines]
        return end.join([self.heading, *said]) + "\n"


def made_documents(count: int, seed: int) -> list[Made]:
    """So many documents, of at most 200 places, each with three facts."""
    draw = Random(f"documents {seed}")
    wording: Any = json.loads(_WORDING.read_text("utf-8"))
    halves = [wording["developing"], wording["counted"]]
    places = draw.sample([first + last for first in _FIRST for last in _LAST], count)
    return [_made(place, halves, number % 2 == 1, draw) for number, place in enumerate(places)]


def _made(place: str, halves: Sequence[Mapping[str, Any]], spoken: bool, draw: Random) -> Made:
    half = draw.choice(halves)
    fillers = draw.sample([text for one in halves for text in one["fillers"]], draw.randint(8, 14))
    lines, facts = [Line(text, text) for text in fillers], []
    for kind in draw.sample(sorted(half["kinds"]), 3):
        words = half["kinds"][kind]
        noun, _, verb = draw.choice(words["subjects"]).partition("|")
        noun = f"{noun} in {place}"
        names = {"noun": noun, "Noun": noun[0].upper() + noun[1:], "verb": verb}
        value, *others = draw.sample(words["values"], 4)
        text, change, question = (
            _of(place, draw.choice(words[form]).format(value="{value}", old="{old}", **names))
            for form in ("set", "change", "ask")
        )
        text = text.format(value=value)
        lines.insert(draw.randint(0, len(lines)), Line(noun, text[0].upper() + text[1:]))
        facts.append(Fact(noun, question, value, tuple(others), change))
    if spoken:
        people = draw.sample(half["people"], 4)
        lines = [replace(one, speaker=draw.choice(people)) for one in lines]
    return Made(f"{place.lower()}.txt", f"Notes on {place}", tuple(lines), tuple(facts))


def _of(place: str, text: str) -> str:
    """A sentence or question that names the place, whatever its form."""
    return text if place in text else f"In {place}: {text}"


def edited(made: Made, draw: Random) -> Made | None:
    """The document after one to three edits, each at another fact; None where it is removed."""
    now: Made | None = made
    for fact in made.facts[: draw.randint(1, len(made.facts))]:
        now = now and _edited(now, fact, draw.choice(EDITS), draw)
    return now


def _edited(made: Made, fact: Fact, edit: Edit, draw: Random) -> Made | None:
    lines = list(made.lines)
    at = next(number for number, one in enumerate(lines) if one.name == fact.line)
    line = lines[at]
    if edit == "removed":
        return None
    if edit == "renamed":
        return replace(made, name=f"renamed-{made.name}")
    if edit == "value":
        lines[at] = replace(line, text=line.text.replace(fact.value, fact.others[0]))
    elif edit == "words":
        lines[at] = replace(line, text=f"As agreed, {line.text[0].lower()}{line.text[1:]}")
    elif edit == "cut":
        del lines[at]
    elif edit == "above":
        lines.insert(
            draw.randint(0, at),
            Line(f"above {fact.line}", "The minutes of last time were read.", line.speaker),
        )
    elif edit == "below":
        lines.append(Line(f"below {fact.line}", "We meet again in a fortnight.", line.speaker))
    elif edit == "end":
        lines.append(lines.pop(at))
    elif edit == "speaker" and line.speaker:
        lines[at] = replace(line, speaker="Olga Brandt")
    return replace(made, lines=tuple(lines))


def changing(made: Made, draw: Random) -> Made:
    """Another document, which says that the first fact is another now."""
    fact = made.facts[0]
    text = fact.change.format(value=fact.others[1], old=fact.value)
    fillers = draw.sample([one for one in made.lines if one.name == one.text], 6)
    lines = [replace(one, speaker="") for one in fillers]
    lines.insert(draw.randint(0, 6), Line(fact.line, text[0].upper() + text[1:]))
    return Made(f"later-{made.name}", f"{made.heading}, later", tuple(lines))


def as_held(before: Made, after: Made | None) -> Made | None:
    """A document as a corpus has it after the edits; None where that is removed from it.

    A file with another name is the same document, and so is one with another text. One with both,
    between two looks at its folder, is a document removed and another one added.
    """
    is_other = after is not None and after.name != before.name and after.text != before.text
    return None if is_other else after


def true_standing(quote: Mapping[str, Any], before: Made, after: Made | None) -> Standing:
    """What has become of a quote, by the lines that it stood in."""
    if after is None:
        return "gone"
    at, spans = 0, []
    for one in (Line("heading", before.heading), *before.lines):
        start = before.text.index(one.text, at)
        at = start + len(one.text)
        if start < quote["end"] and at > quote["start"]:
            piece = before.text[max(start, quote["start"]) : min(at, quote["end"])]
            spans.append((one, piece, start))
    now = {one.name: one for one in (Line("heading", after.heading), *after.lines)}
    if all(one.name not in now for one, _, _ in spans):
        return "gone"
    for one, piece, _ in spans:
        other = now.get(one.name)
        if other is None or other.speaker != one.speaker:
            return "altered"
        if not {*_SENTENCE_END.split(piece)} <= {*_SENTENCE_END.split(other.text)}:
            return "altered"
    if quote["quote"] not in after.text:
        return "altered"  # other words stand between its pieces
    same = after.text[quote["start"] : quote["end"]] == quote["quote"]
    return "same" if same else "moved"
