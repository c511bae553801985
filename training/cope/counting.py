"""Counting: the value of a variable in a small program (section 5.3).

    a = 0 ; pass a ++ pass pass a ++ print a -> 2

Operations set a variable to 0, increment one that is set, or pass. The authors draw them 1 : 7 : 50
(facebookresearch/RAM, projects/cope), at most 512, with one question at the end and values of at
most 10. Here programs have at most 32 operations, pass a third as often, and are asked in between
too, the answers never shown: so a program teaches some five times.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import torch

from training.cope.task import NOT_ASKED, Batch, Task

MOST = 10  # tokens 0 to 10 are values
PASS, INCREMENT, EQUALS, SEMICOLON, PRINT, PADDING, FIRST = range(MOST + 1, MOST + 8)
"""Tokens; those from `FIRST` on are variables."""
WEIGHTS = {"set": 1, "increment": 7, "pass": 15, "print": 4}

Asked = tuple[int, int]
"""A token, and what is asked after it."""


def program(steps: int, variables: int, chance: random.Random) -> list[Asked]:
    """A program of so many operations, then a question."""
    values: dict[int, int] = {FIRST + chance.randrange(variables): 0}
    found = list(_assign(next(iter(values))))
    for _ in range(steps - 1):
        found += _operation(values, variables, chance)
    return [*found, *_question(values, chance)]


def _operation(values: dict[int, int], variables: int, chance: random.Random) -> Iterator[Asked]:
    """An operation at random, which also changes the values."""
    (kind,) = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
    below = [name for name, value in values.items() if value < MOST]
    if kind == "print":
        yield from _question(values, chance)
    elif kind == "set":
        name = FIRST + chance.randrange(variables)
        values[name] = 0
        yield from _assign(name)
    elif kind == "increment" and below:
        name = chance.choice(below)
        values[name] += 1
        yield from ((name, NOT_ASKED), (INCREMENT, NOT_ASKED))
    else:
        yield (PASS, NOT_ASKED)


def _assign(name: int) -> Iterator[Asked]:
    return ((token, NOT_ASKED) for token in (name, EQUALS, 0, SEMICOLON))


def _question(values: dict[int, int], chance: random.Random) -> Iterator[Asked]:
    name = chance.choice(list(values))
    yield from ((PRINT, NOT_ASKED), (name, values[name]))


def sequences(
    count: int, chance: torch.Generator, *, variables: int, steps: tuple[int, int]
) -> Batch:
    """Programs of a number of operations within bounds, with padding after them."""
    source = random.Random(int(torch.randint(2**62, (), generator=chance)))
    programs = [program(source.randint(*steps), variables, source) for _ in range(count)]
    longest = max(len(one) for one in programs)
    rows = [one + [(PADDING, NOT_ASKED)] * (longest - len(one)) for one in programs]
    both = torch.tensor(rows)
    return Batch(both[..., 0].contiguous(), both[..., 1].contiguous())


def task(variables: int, steps: int = 32) -> Task:
    """Up to so many operations, and up to twice as many (long)."""
    return Task(
        name=f"counting-{variables}",
        vocabulary=FIRST + variables,
        longest=8 * steps + 2,
        positions=32,
        splits={
            name: partial(sequences, variables=variables, steps=bounds)
            for name, bounds in (("", (3, steps)), ("long", (steps + 1, 2 * steps)))
        },
    )
