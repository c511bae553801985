"""Confidence intervals by the percentile bootstrap over questions (Efron, 1979)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Outcomes = npt.NDArray[np.float64]
Statistic = Callable[[Outcomes], float]

DRAWS = 2000


def interval(
    outcomes: Outcomes, statistic: Statistic, *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of a statistic over questions resampled with replacement.

    A row is resampled as a whole: for a paired comparison, put both methods into one row, and let
    the statistic take their difference.

    Args:
        outcomes: (questions, ...).
        statistic: From such an array to a number.
        level: Confidence level.
        seed: Equal seeds give equal intervals.
    """
    random = np.random.default_rng(seed)
    samples = random.integers(0, len(outcomes), size=(DRAWS, len(outcomes)))
    values = np.array([statistic(outcomes[rows]) for rows in samples])
    edge = 100 * (1 - level) / 2
    low, high = np.percentile(values, [edge, 100 - edge])
    return float(low), float(high)


def mean(outcomes: Outcomes) -> float:
    """Over all questions and positions."""
    return float(outcomes.mean())


def worst(outcomes: Outcomes) -> float:
    """Of (questions, positions), the mean at the position where it is lowest."""
    return float(outcomes.mean(axis=0).min())


def gap(outcomes: Outcomes) -> float:
    """Of (questions, positions), the best position's mean less the worst's."""
    by_position = outcomes.mean(axis=0)
    return float(by_position.max() - by_position.min())
