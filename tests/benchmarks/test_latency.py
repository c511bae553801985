"""Percentiles of single measurements."""

from __future__ import annotations

from benchmarks.latency import Latency


def test_percentiles() -> None:
    assert Latency.of([0.001] * 99 + [0.101]) == Latency(1.0, 2.0)
