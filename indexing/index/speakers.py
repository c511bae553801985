"""Who speaks in which passage: derived from the store, searched by name."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.index.lexical.bm25 import Bm25Index
from indexing.text.english import FUNCTION_WORDS

IntArray = npt.NDArray[np.int64]

MAX_NAME_WORDS = 3  # words; longer names hold offices and places too

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Speakers:
    """The speakers of a corpus, by number, and the passages in which each speaks."""

    names: tuple[str, ...]  # as the files spell them, each once
    postings: Bm25Index  # each one's passages; the weight is 1/n for the n-th by words said

    @classmethod
    def of(cls, passages: Sequence[tuple[str, ...]]) -> Speakers:
        """From everyone who speaks in each passage, most words first."""
        names = tuple(sorted({name for spoken in passages for name in spoken}))
        number = {name: at for at, name in enumerate(names)}
        entries = sorted(
            (number[name], unit, 1 / place)
            for unit, spoken in enumerate(passages)
            for place, name in enumerate(spoken, start=1)
        )
        keys = np.array([key for key, _, _ in entries], np.int64)
        bounds = np.searchsorted(keys, np.arange(len(names) + 1))
        return cls(
            names,
            Bm25Index(
                keys=np.arange(len(names)),
                bounds=bounds.astype(np.int64),
                units=np.array([unit for _, unit, _ in entries], np.int32),
                weights=np.array([weight for _, _, weight in entries], np.float32),
                size=len(passages),
            ),
        )

    def passages_of(self, name: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """The passages in which somebody speaks, ascending, and their weights; none if nowhere."""
        at = bisect_left(self.names, name)
        if self.names[at : at + 1] != (name,):
            at, bounds = 0, np.zeros(2, np.int64)
        else:
            bounds = self.postings.bounds
        row = slice(int(bounds[at]), int(bounds[at + 1]))
        return self.postings.units[row], self.postings.weights[row]

    @classmethod
    def from_arrays(
        cls, names: tuple[str, ...], arrays: Mapping[str, npt.NDArray[Any]], passages: int
    ) -> Speakers:
        """From the names, and what the postings' `arrays` gave, over so many passages."""
        return cls(names, Bm25Index.from_arrays(arrays, "speakers", passages))

    @cached_property
    def by_name(self) -> dict[str, tuple[int, ...]]:
        """Numbers of the speakers of each full name, in lower case without punctuation."""
        return _group((normalize(name), number) for number, name in enumerate(self.names))

    @cached_property
    def by_part(self) -> dict[str, tuple[int, ...]]:
        """The same by parts of names.

        Two words of a longer name in a row, neither of them a function word, and a name without
        its initials ("Professor" for "Professor B").
        """
        return _group(
            (part, number) for number, name in enumerate(self.names) for part in _name_parts(name)
        )

    @cached_property
    def by_word(self) -> dict[str, tuple[int, ...]]:
        """The same by single words of a name of two or three, of three letters or more."""
        return _group(
            (word, number)
            for number, name in enumerate(self.names)
            if 1 < len(normalize(name).split()) <= MAX_NAME_WORDS
            for word in dict.fromkeys(normalize(name).split())
            if len(word) > 2
        )


def normalize(text: str) -> str:
    """A name or a question in lower case, its words one space apart."""
    return " ".join(_WORD.findall(text.lower()))


def _name_parts(name: str) -> list[str]:
    words = normalize(name).split()
    long = [word for word in words if len(word) > 1]
    pairs = pairwise(words) if len(words) > 2 else ()
    parts = [f"{a} {b}" for a, b in pairs if not {a, b} & FUNCTION_WORDS]
    return parts + ([" ".join(long)] if 0 < len(long) < len(words) else [])


def _group(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    table: dict[str, list[int]] = {}
    for name, number in pairs:
        if name:
            table.setdefault(name, []).append(number)
    return {name: tuple(numbers) for name, numbers in table.items()}
