"""How long something takes, once and time after time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np

from rag_app.progress import counted

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of a query: the median, and what one in a hundred exceeds."""

    p50: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        """From measurements."""
        p50, p99 = np.percentile(np.array(seconds) * 1000, [50, 99])
        return cls(round(float(p50), 2), round(float(p99), 2))


def latency(items: Sequence[Item], doing: str, work: Callable[[Item], object]) -> Latency:
    """Of work on each item; what is read the first time is read before the clock starts."""
    work(items[0])
    times = []
    with counted(items, doing=doing) as steps:
        for item in steps:
            started = perf_counter()
            work(item)
            times.append(perf_counter() - started)
    return Latency.of(times)


def timed(seconds: dict[str, float], name: str, work: Callable[[], Made]) -> Made:
    """What the work makes; its seconds are entered under a name."""
    started = perf_counter()
    made = work()
    seconds[name] = perf_counter() - started
    return made
