"""The estimate against the formulas of Chao's papers, and against catches that are simulated."""

from __future__ import annotations

import random

import pytest

from generator.instances.estimate import estimate, unseen


@pytest.mark.parametrize(("once", "twice"), [(0, 0), (1, 0), (2, 0), (6, 3), (20, 30), (9, 1)])
def test_the_number_of_those_that_neither_holds_is_chaos_for_two_occasions(
    once: int, twice: int
) -> None:
    # Chao (2005), eq. 4 of the bias-corrected form with t = 2: (t - 1) / t f1 (f1 - 1) / 2 (f2 + 1)
    assert unseen(once, twice)[0] == pytest.approx(0.5 * once * (once - 1) / (2 * (twice + 1)))


def test_the_variance_is_that_of_the_formula() -> None:
    f1, f2, a = 6.0, 3.0, 0.5
    chao = (
        a * f1 * (f1 - 1) / (2 * (f2 + 1))
        + a**2 * f1 * (2 * f1 - 1) ** 2 / (4 * (f2 + 1) ** 2)
        + a**2 * f1**2 * f2 * (f1 - 1) ** 2 / (4 * (f2 + 1) ** 4)
    )
    assert unseen(f1, f2)[1] == pytest.approx(chao)


@pytest.mark.parametrize("share", [0.4, 0.6, 0.8])
def test_two_catches_by_chance_say_how_many_there_are(share: float) -> None:
    draw, there, numbers = random.Random(1), 60, []
    for _ in range(300):
        caught = [(draw.random() < share) + (draw.random() < share) for _ in range(there)]
        seen = [each for each in caught if each]
        numbers.append(estimate([1.0] * len(seen), [each == 2 for each in seen]).number)
    assert sum(numbers) / len(numbers) == pytest.approx(there, rel=0.05)


def test_places_count_as_far_as_they_are_likely() -> None:
    every = estimate([0.5, 0.5, 0.25], [True, True, True])
    assert every.number == 1.25 and every.unseen == 0
    assert every.low < every.number < every.high


def test_what_is_certain_has_no_interval() -> None:
    assert estimate([1.0] * 4, [True] * 4).high == 4
    assert estimate([], []) == estimate([0.0], [False])
