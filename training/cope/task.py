"""What a task is: sequences of tokens, and what is asked at some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

NOT_ASKED = -100
"""Target of a token after which nothing is asked; what PyTorch's cross entropy leaves out."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sequences.

    Attributes:
        tokens: (B, n), int64.
        targets: (B, n), int64: the token that is to follow, or `NOT_ASKED`.
    """

    tokens: Tensor
    targets: Tensor


Split = Callable[[int, torch.Generator], Batch]
"""So many sequences, by a source of chance."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task.

    Attributes:
        name: As the command line spells it.
        vocabulary: How many different tokens.
        longest: Tokens of the longest sequence of any split.
        positions: n_pos of contextual positions.
        splits: By name; the first is what is trained on, the others are out of its distribution.
    """

    name: str
    vocabulary: int
    longest: int
    positions: int
    splits: Mapping[str, Split]

    @property
    def trained_on(self) -> Split:
        """The split in the distribution."""
        return next(iter(self.splits.values()))
