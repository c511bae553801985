"""The search improves on chance, keeps within its bounds, and asks for each curve once."""

from __future__ import annotations

import pytest

from indexing.errors import InvalidRequest
from rag_app.laboratory.calibration.genetic_search import Curve, GeneticSettings, search

AIM = (1.2, 0.9, 1.1, 1.3)


def merit(curve: Curve) -> float:
    """Minus the squared distance from `AIM`."""
    return -sum((one - other) ** 2 for one, other in zip(curve, AIM, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_a_better_curve_than_random_ones(seed: int) -> None:
    settings = GeneticSettings(population=10, generations=12, seed=seed)
    trials = search(merit, settings)
    tried = len(trials)
    chance = search(merit, GeneticSettings(population=tried, generations=1, seed=seed))
    assert len(chance) == tried
    assert trials[0][1] > chance[0][1]
    assert trials[0][1] > -0.02


def test_every_curve_is_measured_once_and_lies_within_bounds() -> None:
    asked: list[Curve] = []

    def counted(curve: Curve) -> float:
        asked.append(curve)
        return merit(curve)

    settings = GeneticSettings(population=6, generations=5, low=0.95, high=1.05)
    trials = search(counted, settings)
    assert asked[0] == (1.0,) * 4
    assert len(set(asked)) == len(asked) == len(trials)
    assert len(asked) <= 6 + 4 * 4
    assert all(0.95 <= point <= 1.05 for curve in asked for point in curve)
    assert trials == sorted(trials, key=lambda pair: -pair[1])
    assert search(merit, settings) == trials  # so that a search that was stopped resumes
    other = search(merit, GeneticSettings(population=6, generations=5, low=0.95, high=1.05, seed=1))
    assert other != trials


def test_settings_that_cannot_be() -> None:
    for wrong in (
        {"population": 2}, {"generations": 0}, {"points": 0}, {"low": 0.0}, {"low": 2.0},
    ):  # fmt: skip
        with pytest.raises(InvalidRequest):
            GeneticSettings(**wrong)
