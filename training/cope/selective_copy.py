"""Selective copy: say again all tokens but the blanks, in order (section 5.2).

    3 _ 1 _ _ 2 : 3 1 2

The paper copies 256 tokens among 256 blanks, and is tested with 128 (dense) and 512 (sparse). Here
an eighth of each.
"""

from __future__ import annotations

from functools import partial

import torch

from training.cope.task import NOT_ASKED, Batch, Task

BLANK, CONTENT, COLON = 0, 15, 16  # tokens 1 to 15 are copied


def sequences(count: int, chance: torch.Generator, *, copied: int, blanks: int) -> Batch:
    """Sequences with so many tokens to copy and so many blanks at random places."""
    content = torch.randint(1, CONTENT + 1, (count, copied), generator=chance)
    places = torch.rand(count, copied + blanks, generator=chance).argsort(dim=1)[:, :copied]
    mixed = torch.full((count, copied + blanks), BLANK)
    mixed.scatter_(1, places.sort(dim=1).values, content)
    colon = torch.full((count, 1), COLON)
    not_asked = torch.full_like(mixed, NOT_ASKED)
    return Batch(
        torch.cat((mixed, colon, content[:, :-1]), dim=1), torch.cat((not_asked, content), dim=1)
    )


def task(copied: int = 32) -> Task:
    """As many blanks as tokens to copy; half as many (dense) and twice as many (sparse)."""
    return Task(
        name="selective-copy",
        vocabulary=COLON + 1,
        longest=4 * copied,
        positions=copied + 8,
        splits={
            name: partial(sequences, copied=copied, blanks=blanks)
            for name, blanks in (("", copied), ("dense", copied // 2), ("sparse", 2 * copied))
        },
    )
