"""How many places there are, from two searches: those that both found say how many both missed.

Capture and recapture for two occasions, by Chao's estimator (Biometrics 43, 1987, eq. 7 and 8;
bias-corrected: Chao, Biometrika 92, 2005): of places that one of two catches holds, f1, and of
those that both hold, f2, the number that neither holds is at least f1 (f1 - 1) / (4 (f2 + 1)).
A place counts with the probability that it is one, so that the estimate is of what people would
mark, and the number shown need not be below it. The interval is log-normal, as Chao's; its width is
`_WIDENED`, so that it held what was marked as often as it promises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PROMISED = 0.9
"""How often the interval holds the number of places."""
_WIDENED = 3.96  # of a standard deviation (`python -m benchmarks every --fit`)
_LEAST = 0.5  # places, added on both sides: a logarithm of none is none


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many places there probably are."""

    number: float  # the estimate, not rounded
    low: float  # the lower end of its interval
    high: float  # the upper end
    unseen: float  # how many of them neither search caught


def unseen(once: float, twice: float) -> tuple[float, float]:
    """How many neither of two catches holds, and its variance, from how many one or both do."""
    excess = max(once - 1, 0.0)
    number = once * excess / (4 * (twice + 1))
    variance = (
        number
        + once * (once + excess) ** 2 / (16 * (twice + 1) ** 2)
        + once**2 * twice * excess**2 / (16 * (twice + 1) ** 4)
    )
    return number, variance if number else 0.0


def estimate(probabilities: Sequence[float], both: Sequence[bool]) -> Estimate:
    """The estimate, from each place's probability, and whether both searches caught it."""
    pairs = list(zip(probabilities, both, strict=True))
    once = sum(p for p, twice in pairs if not twice)
    twice = sum(p for p, twice in pairs if twice)
    missed, variance = unseen(once, twice)
    number = once + twice + missed
    variance += sum(p * (1 - p) for p in probabilities)
    factor = math.exp(_WIDENED * spread(number, variance))
    low = max(0.0, (number + _LEAST) / factor - _LEAST)
    return Estimate(number, low, (number + _LEAST) * factor - _LEAST, missed)


def spread(number: float, variance: float) -> float:
    """The standard deviation of the logarithm of a number of such a variance (log-normal)."""
    return math.sqrt(math.log(1 + variance / (number + _LEAST) ** 2))
