"""Groups of examples: a question beside a stretch that answers it and stretches that do not.

The stretches of a group are compared with each other, as the reader's are in an answer. Batches of
groups are put together as arrays by processes of their own; the model only reads them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from packing import Pack
from reader_data import Example
from reader_examples import (
    ANSWERED,
    CHANGED,
    NEAR_MISS,
    NEW,
    WITHOUT,
    Examples,
    meeting_example,
    times,
)

KINDS = {
    "answered": 0,
    "near miss": 1,
    "changed": 2,
    "other passage": 3,
    "without": 4,
    "meeting": 5,
}
"""Numbers of the kinds of example."""

_OTHERS = 2  # stretches of other passages in the group of an answered question
_OWN = 0.6  # of these from the same article or set, where its texts are of one subject
_OF_ONE_SUBJECT = frozenset({"squad2-half", "squadshifts-new_wiki", *NEW})
_WINDOWS = 6  # of a meeting, read with one question
_QUERIES = 0.5  # share of the questions on meetings that come in a pass
_PART = 2_500  # questions of a part of a pass
_ANSWERS = 8  # of a question, at most

Part = tuple[int, list[int], list[int]]
"""A seed, numbers of questions and of queries."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples as arrays, padded on the right.

    Attributes:
        arrays: By name: `ids` (n, t), `lengths` and `firsts` (n,), `places` (n, s, 2), `relevant`
            (n, s), `known` (n,) whether that is known, `answers` (n, a, 2), `real` (n, a), `kinds`
            and `group` (n,).
        tokens: Without padding.
    """

    arrays: dict[str, NDArray[Any]]
    tokens: int

    @property
    def groups(self) -> int:
        """How many there are."""
        return int(self.arrays["group"][-1]) + 1


class Groups(Examples):
    """Puts groups together, in an order that a seed decides.

    Args:
        pack: All questions, with what stands near them.
    """

    def __init__(self, pack: Pack) -> None:
        super().__init__(pack.data, pack.encoder())
        self._meetings, self._near = pack.meetings, pack.near

    def parts(self, passes: int) -> list[Part]:
        """Every question once a pass, and some of the queries."""
        found = []
        questions, queries = len(self.data.train), len(self._meetings.train)
        for number in range(passes):
            rng = random.Random(number)
            asked = rng.sample(range(questions), questions)
            shown = rng.sample(range(queries), int(_QUERIES * queries))
            count = max(1, questions // _PART)
            found += [
                (1000 * number + at, asked[at::count], shown[at::count]) for at in range(count)
            ]
        return found

    def batches(self, part: Part, budget: int) -> list[Batch]:
        """Of about the same length each, at most `budget` tokens with padding, in random order."""
        seed, questions, queries = part
        rng = random.Random(seed)
        groups = [*self._of_questions(questions, rng), *self._of_queries(queries, rng)]
        groups.sort(key=lambda one: _width(one) + 12 * rng.random())
        found: list[list[list[Example]]] = [[]]
        count = widest = 0
        for group in groups:
            if found[-1] and (count + len(group)) * max(widest, _width(group)) > budget:
                found.append([])
                count = widest = 0
            found[-1].append(group)
            count, widest = count + len(group), max(widest, _width(group))
        rng.shuffle(found)
        return [_collated(each) for each in found if each]

    def _of_questions(self, numbers: Sequence[int], rng: random.Random) -> Iterator[list[Example]]:
        for number in numbers:
            question = self.data.train[number]
            source = self.data.passages[question.passage].source
            if not question.answers:
                for _ in range(times(NEAR_MISS[source], rng)):
                    yield [self.near_miss(question, rng)]
                continue
            for _ in range(times(ANSWERED[source], rng)):
                yield [self.answered(question, rng), *self._others(number, rng)]
                for share, kind in ((CHANGED[source], self.changed), (WITHOUT, self.without)):
                    one = kind(number, rng) if rng.random() < share else None
                    if one is not None:
                        yield [one]

    def _others(self, number: int, rng: random.Random) -> Iterator[Example]:
        """The question beside passages that lack its answer's words: of its set, or near it."""
        question = self.data.train[number]
        own = self.data.passages[question.passage]
        same = [i for i in self.of_title(own) if i != question.passage]
        far = [int(i) for i in self._near[number] if not self.is_held(int(i))]
        for _ in range(_OTHERS):
            if same and own.source in _OF_ONE_SUBJECT and rng.random() < _OWN:
                order = rng.sample(same, min(len(same), 12))
            else:
                order = far[:20] if rng.random() < 0.7 else far
            one = self.beside(question, order, rng)
            if one is not None:
                yield one

    def _of_queries(self, numbers: Sequence[int], rng: random.Random) -> Iterator[list[Example]]:
        """Windows of a meeting beside a question: up to three with marked turns, and near ones."""
        for number in numbers:
            query = self._meetings.train[number]
            near = query.windows[:40]
            marked = [i for i in query.windows if any(query.marked[i])]
            best = [i for i in marked if i in near] or marked
            others = [i for i in near if not any(query.marked[i])]
            taken = rng.sample(best, min(len(best), rng.randrange(1, 4)))
            taken += rng.sample(others, min(len(others), _WINDOWS - len(taken)))
            if taken:
                yield [meeting_example(query, self._meetings, i, self.data) for i in taken]


def _width(group: Sequence[Example]) -> int:
    return max(len(one.ids) for one in group)


def _collated(groups: Sequence[Sequence[Example]]) -> Batch:
    examples = [one for group in groups for one in group]
    size, width = len(examples), -(-_width(examples) // 8) * 8
    sentences = max(len(one.places) for one in examples)
    answers = min(_ANSWERS, max(1, *(len(one.answers) for one in examples)))
    arrays: dict[str, NDArray[Any]] = {
        "ids": np.zeros((size, width), np.int32),
        "lengths": np.array([len(one.ids) for one in examples], np.int32),
        "firsts": np.array([one.first for one in examples], np.int32),
        "places": np.zeros((size, sentences, 2), np.int32),
        "relevant": np.zeros((size, sentences), np.float32),
        "known": np.array([one.relevant is not None for one in examples]),
        "answers": np.zeros((size, answers, 2), np.int32),
        "real": np.zeros((size, answers), bool),
        "kinds": np.array([KINDS[one.kind] for one in examples], np.int64),
        "group": np.array([n for n, each in enumerate(groups) for _ in each], np.int64),
    }
    for row, one in enumerate(examples):
        arrays["ids"][row, : len(one.ids)] = one.ids
        arrays["places"][row, : len(one.places)] = one.places
        if one.relevant is not None:
            arrays["relevant"][row, : len(one.relevant)] = one.relevant
        pairs = (one.answers or [(0, 0)])[:answers]
        arrays["answers"][row, : len(pairs)] = pairs
        arrays["real"][row, : len(pairs)] = True
    return Batch(arrays, int(arrays["lengths"].sum()))
