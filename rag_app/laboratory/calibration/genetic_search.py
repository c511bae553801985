"""A small genetic search over the control points of a curve, as LPES searches for its scales.

After "Mitigating Position Bias in Transformers via Layer-Specific Positional Embedding Scaling"
(arXiv 2606.27705): curves are selected by what they are worth on probes, crossed and mutated. Sizes
are our own, for a CPU: tens of evaluations, not thousands.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from indexing.errors import InvalidRequest

Curve = tuple[float, ...]
"""Control points."""

Merit = Callable[[Curve], float]
"""What a curve is worth; called once for each."""

_DIGITS = 3


@dataclass(frozen=True, slots=True)
class GeneticSettings:
    """How a search goes.

    Attributes:
        population: Curves of a generation.
        generations: Including the first, whose curves are random.
        points: Control points of a curve.
        low: Least height of a point.
        high: Greatest height.
        mutation: Standard deviation of what is added to a point.
        elite: Curves that a generation keeps of the one before.
        seed: Equal seeds and merits give equal searches.
    """

    population: int = 8
    generations: int = 4
    points: int = 4
    low: float = 0.8
    high: float = 1.5
    mutation: float = 0.08
    elite: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.population <= self.elite or min(self.generations, self.points, self.elite) < 1:
            raise InvalidRequest(
                "a search needs a generation, a control point, and more curves than it keeps"
            )
        if not 0 < self.low < self.high:
            raise InvalidRequest(f"points must lie between positive numbers: {self.low, self.high}")


def search(merit: Merit, settings: GeneticSettings) -> list[tuple[Curve, float]]:
    """Every curve that was tried with its merit, best first; of equals the earlier.

    The first generation has the curve that changes nothing (all points 1).
    """
    rng = random.Random(f"genetic {settings.seed}")  # noqa: S311 - not a secret
    merits: dict[Curve, float] = {}

    def ranked(curves: list[Curve]) -> list[Curve]:
        for curve in curves:
            if curve not in merits:
                merits[curve] = merit(curve)
        return sorted(dict.fromkeys(curves), key=lambda curve: -merits[curve])

    population = [(1.0,) * settings.points]
    population += [_random(settings, rng) for _ in range(settings.population - 1)]
    for _ in range(settings.generations - 1):
        parents = ranked(population)
        elite = parents[: settings.elite]
        children = [
            _child(_select(parents, rng), _select(parents, rng), settings, rng)
            for _ in range(settings.population - len(elite))
        ]
        population = [*elite, *children]
    ranked(population)
    return sorted(merits.items(), key=lambda pair: -pair[1])


def _random(settings: GeneticSettings, rng: random.Random) -> Curve:
    """A curve near 1, twice as far from it as a mutation goes."""
    return _within(
        [rng.gauss(1.0, 2 * settings.mutation) for _ in range(settings.points)], settings
    )


def _select(parents: list[Curve], rng: random.Random) -> Curve:
    """The better of two that are drawn: a tournament."""
    return parents[min(rng.randrange(len(parents)), rng.randrange(len(parents)))]


def _child(one: Curve, other: Curve, settings: GeneticSettings, rng: random.Random) -> Curve:
    """Each point from between the parents' points, mutated."""
    points = []
    for first, second in zip(one, other, strict=True):
        share = rng.random()
        crossed = share * first + (1 - share) * second
        points.append(crossed + rng.gauss(0.0, settings.mutation))
    return _within(points, settings)


def _within(points: list[float], settings: GeneticSettings) -> Curve:
    return tuple(round(min(settings.high, max(settings.low, point)), _DIGITS) for point in points)
