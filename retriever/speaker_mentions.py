"""Which speakers a question names: their passages are likelier to answer it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from indexing.index.speakers import Speakers, normalize
from indexing.text.english import FUNCTION_WORDS, QUESTION_WORDS

LONGEST = 6  # words of a name

_NO_NAMES = FUNCTION_WORDS | QUESTION_WORDS
# A capital that no sentence asks for: the word before it ends without a full stop.
_CAPITAL = re.compile(r"(?<=[\w,;:] )[A-Z]\w*")


def named_speakers(question: str, speakers: Speakers) -> npt.NDArray[np.int64]:
    """Numbers of the speakers that a question names, ascending; none where it names nobody.

    Full names count in any case of letters. Where there are none, so do names without their
    initials and two words of a longer name, and then single words of a short name that the question
    writes with a capital. A name within a longer one does not count, nor does an ordinary word of
    questions ("Will", "Me").
    """
    words = normalize(question).split()
    for table in (speakers.by_name, speakers.by_part):
        if names := _longest_names(words, table):
            return _numbers(names, table)
    capitals = {normalize(word) for word in _CAPITAL.findall(question)} - _NO_NAMES
    return _numbers(capitals & speakers.by_word.keys(), speakers.by_word)


def mentioned_names(question: str, speakers: Speakers) -> list[str]:
    """Every full name that a question holds, or a part or word of: `named_speakers` is of these."""
    words = normalize(question).split()
    rows = {
        " ".join(words[at : at + length])
        for at in range(len(words))
        for length in range(1, min(LONGEST, len(words) - at) + 1)
    }
    tables = (speakers.by_name, speakers.by_part, speakers.by_word)
    numbers = {number for table in tables for row in rows & table.keys() for number in table[row]}
    return [speakers.names[number] for number in sorted(numbers)]


def _numbers(names: set[str], table: Mapping[str, tuple[int, ...]]) -> npt.NDArray[np.int64]:
    return np.array(sorted({number for name in names for number in table[name]}), np.int64)


def _longest_names(words: list[str], table: Mapping[str, tuple[int, ...]]) -> set[str]:
    """The longest names in a row of words; a name within one of these is skipped."""
    names, at = set(), 0
    while at < len(words):
        for length in range(min(LONGEST, len(words) - at), 0, -1):
            name = " ".join(words[at : at + length])
            if name in table and name not in _NO_NAMES and len(name) > 1:
                names.add(name)
                at += length
                break
        else:
            at += 1
    return names
