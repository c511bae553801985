"""Flip-flop: remember the bit that was written last (section 5.1; Liu et al., arXiv 2306.00946).

    w 0 i 1 i 0 w 1 i 0 r 1

Instructions write, ignore or read a bit. The first writes and the last reads; the others ignore
with a given probability, and write or read as often. What is read is asked. The paper has 256
instructions, of which 80 % ignore, and is tested with 98 %, where the last write lies far back.
"""

from __future__ import annotations

from functools import partial

import torch

from training.cope.task import NOT_ASKED, Batch, Task

WRITE, IGNORE, READ = 2, 3, 4  # tokens; the bits are 0 and 1


def sequences(count: int, chance: torch.Generator, *, instructions: int, ignored: float) -> Batch:
    """Sequences of so many instructions, of which a share ignore their bit."""
    shares = torch.tensor([(1 - ignored) / 2, ignored, (1 - ignored) / 2]).expand(count, -1)
    kinds = WRITE + shares.multinomial(instructions, replacement=True, generator=chance)
    kinds[:, 0], kinds[:, -1] = WRITE, READ
    bits = torch.randint(0, 2, kinds.shape, generator=chance)
    at = torch.arange(instructions).expand_as(kinds)
    written = at.where(kinds == WRITE, torch.zeros_like(at)).cummax(dim=1).values
    bits = torch.where(kinds == READ, bits.gather(1, written), bits)
    asked = bits.where(kinds == READ, torch.full_like(bits, NOT_ASKED))
    tokens = torch.stack((kinds, bits), dim=2).flatten(1)
    targets = torch.stack((asked, torch.full_like(asked, NOT_ASKED)), dim=2).flatten(1)
    return Batch(tokens[:, :-1], targets[:, :-1])


def task(instructions: int = 64) -> Task:
    """80 % ignored; 10 % (dense) and 98 % (sparse) out of distribution."""
    return Task(
        name="flip-flop",
        vocabulary=READ + 1,
        longest=2 * instructions,
        positions=32,
        splits={
            name: partial(sequences, instructions=instructions, ignored=ignored)
            for name, ignored in (("", 0.8), ("sparse", 0.98), ("dense", 0.1))
        },
    )
