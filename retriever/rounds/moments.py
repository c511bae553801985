"""How much scores vary, exactly: sums of whole numbers, which are the same in any order.

A sum of floats depends on the order of its terms in the last bits. Documents that are spread over
several shards are to get the very scores that they have in one, so each score counts as a whole
number of 2**-24 here, as fine as a float32 near 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from retriever.fusion import Spread
from retriever.rounds.rounds import Share

FloatArray = npt.NDArray[np.float32]
Name = TypeVar("Name")

STEPS = 1 << 24  # in 1
_LOW = 1 << 18  # what is below is squared apart, and
_BLOCK = 1 << 13  # scores at a time: so every sum stays below 2**53, where floats are exact,
# and BLAS multiplies them in this thread (from 10,000 on it wakes others, and waits for them)


@dataclass(frozen=True, slots=True)
class Moments:
    """The number of some scores, their sum and the sum of their squares, in steps."""

    count: int = 0
    total: int = 0
    squares: int = 0

    @classmethod
    def of(cls, scores: FloatArray) -> Moments:
        """Of the finite ones; each is below 2**13."""
        finite = np.isfinite(scores)
        some = scores if finite.all() else scores[finite]
        total = squares = 0
        for start in range(0, len(some), _BLOCK):
            steps = np.rint(np.multiply(some[start : start + _BLOCK], STEPS, dtype=np.float64))
            high = np.floor(steps / _LOW)
            low = steps - high * _LOW
            total += int(steps.sum())
            squares += int(high @ high) * _LOW**2 + 2 * int(high @ low) * _LOW + int(low @ low)
        return cls(len(some), total, squares)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count, self.total + other.total, self.squares + other.squares
        )

    @property
    def spread(self) -> Spread:
        """Mean and standard deviation; 0 and 0 of none."""
        if not self.count:
            return Spread(np.float32(0), np.float32(0))
        variance = self.count * self.squares - self.total**2
        deviation = sqrt(variance / (self.count * STEPS) ** 2)
        return Spread(np.float32(self.total / (self.count * STEPS)), np.float32(deviation))


@dataclass(frozen=True, slots=True)
class Spreads(Share[Mapping[Name, Spread]], Generic[Name]):
    """How much each of several features varies within one part of a corpus."""

    moments: Mapping[Name, Moments] = field(default_factory=dict)

    @classmethod
    def of(cls, features: Mapping[Name, FloatArray]) -> Spreads[Name]:
        """Measured."""
        return cls({name: Moments.of(scores) for name, scores in features.items()})

    def merge(self, others: Sequence[Spreads[Name]]) -> Mapping[Name, Spread]:
        """Over all parts."""
        return {
            name: sum((one.moments[name] for one in others), start=own).spread
            for name, own in self.moments.items()
        }
