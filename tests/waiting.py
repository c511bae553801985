"""Waiting for what must come, and counting work, on machines of any speed."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds after which what has not come will not come; far beyond what any machine needs."""

BROWSER_PATIENCE = PATIENCE * 1000
"""The same in milliseconds, as Playwright counts."""


def wait_until(condition: Callable[[], bool]) -> None:
    """Returns as soon as a condition holds.

    Raises:
        AssertionError: It does not hold after `PATIENCE` seconds.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.01)


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of some work, its child processes included, however busy the machine is."""
    before = _cpu_time()
    work()
    return _cpu_time() - before


def _cpu_time() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
