"""Names of a question as speech recognition writes them: "beacon board" for Beaconboard.

Words that stand side by side in a sentence are put together and compared with each name of the
question, by the share of letters that are alike (one minus the optimal string alignment distance
by the longer one's length), or by their sound ("Fink" for Finch).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from indexing.text.aliases import sound_of
from indexing.text.language import LANGUAGES
from indexing.text.terms import words

_NAME = re.compile(r"(?<!^)\b[A-Z][^\W\d_]{4,}")  # but for the first word
_TITLED = re.compile(r"(?<=\b(?:Frau|Herr) )[^\W\d_]{5,}")
_MOST_WORDS = 3  # that a name is heard as
_ALIKE = 0.8  # share of letters from which words are a name
_SAME_SOUND = 0.9  # what counts where they sound the same
_LEAST_SOUND = 4  # letters of a sound that tells names apart


def heard_names(
    question: str, topic: Sequence[str], texts: Sequence[str], language: str
) -> npt.NDArray[np.float32]:
    """(n, m) how much the words of each text sound like each topic word, if that is a name.

    Args:
        question: With its capitals.
        topic: m of its words, in lower case.
        texts: n sentences.
        language: Of the question; where every noun has a capital, names follow a title.
    """
    found = np.zeros((len(texts), len(topic)), np.float32)
    expression = _TITLED if LANGUAGES[language].capitalised_nouns else _NAME
    names = {name.lower() for name in expression.findall(question)}
    columns = [column for column, word in enumerate(topic) if word in names]
    if not columns:
        return found
    rows: dict[str, set[int]] = {}
    for row, text in enumerate(texts):
        for joined in _joined(words(text)):
            rows.setdefault(joined, set()).add(row)
    spelled = list(rows)
    for column, alike in zip(
        columns, _likeness([topic[each] for each in columns], spelled), strict=True
    ):
        for place in np.flatnonzero(alike):
            where = [*rows[spelled[place]]]
            found[where, column] = np.maximum(found[where, column], alike[place])
    return found


def _likeness(names: Sequence[str], spelled: Sequence[str]) -> npt.NDArray[np.float32]:
    """(names, spelled) how much each is like each, by letters or by sound; 0 below `_ALIKE`."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    alike = process.cdist(
        names, spelled, scorer=OSA.normalized_similarity, score_cutoff=_ALIKE, dtype=np.float32
    )
    first = np.array([each[0] for each in spelled])
    sounds = np.array([sound_of(each) for each in spelled])
    for name, row in zip(names, alike, strict=True):
        row[first != name[0]] = 0
        if len(sound := sound_of(name)) >= _LEAST_SOUND:
            row[sounds == sound] = np.maximum(row[sounds == sound], _SAME_SOUND)
    return np.asarray(alike, np.float32)


def _joined(parts: Sequence[str]) -> set[str]:
    """Words, and up to so many neighbours as one."""
    return {
        "".join(parts[start : start + size])
        for size in range(1, _MOST_WORDS + 1)
        for start in range(len(parts) - size + 1)
    }
