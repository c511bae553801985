"""Latency: the clock around one piece of work, and percentiles over many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np

from rag_app.progress import track

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles in milliseconds."""

    p50: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        """From single measurements."""
        p50, p99 = np.percentile(np.array(seconds) * 1000, [50, 99])
        return cls(round(float(p50), 2), round(float(p99), 2))


def latency(items: Sequence[Item], doing: str, work: Callable[[Item], object]) -> Latency:
    """Latency of `work` on each item, after a warm-up on the first."""
    work(items[0])
    times = []
    with track(items, doing=doing) as steps:
        for item in steps:
            started = perf_counter()
            work(item)
            times.append(perf_counter() - started)
    return Latency.of(times)


def clock(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def timed(seconds: dict[str, float], name: str, work: Callable[[], Result]) -> Result:
    """The result of `work`; its seconds are stored under `name`."""
    started = perf_counter()
    result = work()
    seconds[name] = perf_counter() - started
    return result
