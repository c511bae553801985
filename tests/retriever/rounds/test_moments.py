"""Spreads are those of NumPy, and the same to the last bit however scores are scattered."""

from __future__ import annotations

import numpy as np
import pytest

from retriever.fusion import Spread
from retriever.rounds.moments import Moments, Spreads

INF = np.float32(-np.inf)


@pytest.mark.parametrize(("mean", "deviation"), [(0, 1), (20, 9), (-3000, 1e-3), (0, 1e-5)])
def test_they_are_those_of_numpy_in_any_order(mean: float, deviation: float) -> None:
    draw = np.random.default_rng(3)
    scores = draw.normal(mean, deviation, 5000).astype(np.float32)
    scores[::7] = INF
    whole = Moments.of(scores).spread
    exact = scores[np.isfinite(scores)].astype(np.float64)
    assert whole.mean == pytest.approx(exact.mean(), rel=1e-6, abs=1e-7)
    assert whole.deviation == pytest.approx(exact.std(), rel=1e-3, abs=1e-7)
    for count in (1, 2, 3, 7):
        own = draw.integers(0, count, len(scores))
        shares = [Spreads.of({"a": draw.permutation(scores[own == n])}) for n in range(count)]
        merged = shares[0].merge(shares[1:])["a"]
        assert (merged.mean, merged.deviation) == (whole.mean, whole.deviation)


def test_of_nothing_and_of_equals() -> None:
    assert Moments.of(np.full(3, INF)).spread == Spread(np.float32(0), np.float32(0))
    assert Moments.of(np.full(9, 0.3, np.float32)).spread.deviation == 0


def test_no_sum_overflows() -> None:
    scores = np.full(1 << 20, 8000, np.float32)
    scores[::2] = -8000
    assert Moments.of(scores).spread == Spread(np.float32(0), np.float32(8000))
