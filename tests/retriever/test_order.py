"""The best of many scores, against sorting all of them."""

from __future__ import annotations

import numpy as np
import pytest

from retriever.order import best


@pytest.mark.parametrize("most", [0, 1, 7, 50, 99, 100, 500])
@pytest.mark.parametrize("values", [2, 40, 10_000])
def test_the_best_are_those_of_a_sort(most: int, values: int) -> None:
    """With ties, and with scores that do not count."""
    draw = np.random.default_rng(values)
    scores = (draw.integers(0, values, 100) / values).astype(np.float32)
    scores[draw.random(100) < 0.3] = -np.inf
    ranked = sorted(range(100), key=lambda at: (-scores[at], at))
    assert best(scores, most).tolist() == [at for at in ranked if np.isfinite(scores[at])][:most]


def test_of_nothing() -> None:
    assert best(np.zeros(0, np.float32), 3).tolist() == []
    assert best(np.full(5, -np.inf, np.float32), 3).tolist() == []
