"""The figures of `python -m benchmarks every`, on cases whose figures are known."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from benchmarks.every import Case, _is_marked, fitted, outcome
from generator.instances.places import WEIGHTS


def case(truth: int, low: float, high: float) -> Case:
    rows = tuple(dict.fromkeys(WEIGHTS, 0.0) for _ in range(4))
    marked = (True, True, False, False)
    return Case("?", truth, 9, 3.0, low, high, 2, 1, 2, rows, (True,) * 4, marked)


def test_a_passage_is_marked_by_half_of_it_or_of_a_stretch() -> None:
    assert _is_marked(0, 10, [(5, 100)]) and not _is_marked(0, 10, [(6, 100)])
    assert _is_marked(0, 100, [(95, 105)]) and not _is_marked(0, 100, [(96, 106)])
    assert _is_marked(0, 10, [(0, 3), (4, 6)])
    assert not _is_marked(0, 10, [])


def test_shares_are_of_all_questions() -> None:
    done = outcome("marked", [case(2, 1.6, 3), case(4, 1, 3), case(0, 1, 3)])
    assert done.holds == pytest.approx(1 / 3) and done.below == pytest.approx(1 / 3)
    assert done.precision == 0.5 and done.recall == 0.5 and done.caught == 1
    assert done.places == 6 and done.questions == 3


def test_weights_that_made_the_marks_are_found_again() -> None:
    draw, made = random.Random(3), []
    for _ in range(60):
        rows = tuple({name: draw.gauss(0, 3) for name in WEIGHTS} for _ in range(40))
        logits = [row["relevance"] - 1 for row in rows]
        marked = tuple(draw.random() < 1 / (1 + 2.718281828**-one) for one in logits)
        one = replace(case(sum(marked), 0, 9), features=rows, both=(True,) * 40, marked=marked)
        made.append(one)
    weights, width = fitted(made)
    assert weights["relevance"] == pytest.approx(1, abs=0.15)
    assert weights["bias"] == pytest.approx(-1, abs=0.3)
    assert abs(weights["words"]) < 0.1 and 0 < width < 3
