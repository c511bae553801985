"""Throughput of prefill and decoding."""

from __future__ import annotations

import pytest

from benchmarks import generation


def test_throughput_is_the_median_over_rounds() -> None:
    runs = [(900.0, 40.0), (1000.04, 10.0), (1100.0, 41.0)]
    assert generation._throughput("x", 500, runs) == generation.Throughput("x", 500, 1000.0, 40.0)


def test_reading_ends_with_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([5.0, 5.2, 5.25, 5.3, 5.4])
    monkeypatch.setattr(generation, "perf_counter", lambda: next(moments))
    assert generation._time(range(4), 10) == pytest.approx((50, 15))
