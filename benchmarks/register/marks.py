"""Marks in the text of a made meeting: `<a who="..." until="..." due="..." matter="...">`.

`a` marks an action, `d` a decision, `q` an open question, `u` a sentence that only says what became
of a matter; `tells` is what the matter is from there on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(r"<([adqu])((?: \w+=\"[^\"]*\")* ?)>(.*?)</\1>", re.DOTALL)
_VALUE = re.compile(r"(\w+)=\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class Mark:
    """A sentence that belongs into the register.

    Attributes:
        file: Name of the meeting's file.
        kind: "a", "d", "q" or "u".
        start: First character in the text without marks.
        end: One past the last.
        text: The sentence.
        matter: A name of the matter.
        tells: What the matter is from here on.
        who: Whole name of whoever is to do it.
        until: The words that say when.
        due: The day that they mean.
    """

    file: str
    kind: str
    start: int
    end: int
    text: str
    matter: str
    tells: str = "open"
    who: str = ""
    until: str = ""
    due: str = ""


def marked(text: str, file: str) -> tuple[str, list[Mark]]:
    """The text without marks, and what they say, in order."""
    pieces: list[str] = []
    marks: list[Mark] = []
    at = length = 0
    for match in _MARK.finditer(text):
        before, words = text[at : match.start()], match[3]
        start = length + len(before)
        values = dict(_VALUE.findall(match[2]))
        marks.append(Mark(file, match[1], start, start + len(words), words, **values))
        pieces += [before, words]
        at, length = match.end(), start + len(words)
    return "".join([*pieces, text[at:]]), marks
