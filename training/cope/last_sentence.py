"""Last sentence: how often does a name occur in it? The probe of the paper's introduction.

    a b a c . b b d . c a c ? c -> 2 ? b -> 0

Where the sentence begins follows from the stop before it, not from a number of tokens. Several
names are asked about one text; the answers are never shown.
"""

from __future__ import annotations

import random
from functools import partial

import torch

from training.cope.task import NOT_ASKED, Batch, Task

NAMES, LEAST, MOST, ASKED = 5, 4, 12, 3  # names; words of a sentence; questions
STOP, QUESTION, PADDING, FIRST = range(MOST + 1, MOST + 5)
"""Tokens; 0 to `MOST` are numbers, and those from `FIRST` on names."""


def text(sentences: int, chance: random.Random) -> tuple[list[int], list[int]]:
    """Tokens and targets of a text of so many sentences with its questions."""
    names = range(FIRST, FIRST + NAMES)
    written = [chance.choices(names, k=chance.randint(LEAST, MOST)) for _ in range(sentences)]
    tokens = [token for sentence in written for token in (*sentence, STOP)]
    targets = [NOT_ASKED] * len(tokens)
    for name in chance.sample(names, ASKED):
        tokens += [QUESTION, name]
        targets += [NOT_ASKED, written[-1].count(name)]
    return tokens, targets


def sequences(count: int, chance: torch.Generator, *, sentences: tuple[int, int]) -> Batch:
    """Texts of a number of sentences within bounds, with padding after them."""
    source = random.Random(int(torch.randint(2**62, (), generator=chance)))
    texts = [text(source.randint(*sentences), source) for _ in range(count)]
    longest = max(len(tokens) for tokens, _ in texts)
    rows = [
        (
            tokens + [PADDING] * (longest - len(tokens)),
            targets + [NOT_ASKED] * (longest - len(targets)),
        )
        for tokens, targets in texts
    ]
    return Batch(torch.tensor([row[0] for row in rows]), torch.tensor([row[1] for row in rows]))


def task(sentences: int = 5) -> Task:
    """Up to so many sentences, and up to twice as many (long)."""
    return Task(
        name="last-sentence",
        vocabulary=FIRST + NAMES,
        longest=2 * sentences * (MOST + 1) + 2 * ASKED,
        positions=32,
        splits={
            name: partial(sequences, sentences=bounds)
            for name, bounds in (("", (1, sentences)), ("long", (sentences + 1, 2 * sentences)))
        },
    )
