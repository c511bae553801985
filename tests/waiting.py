"""Waiting for what must come, and counting work, on machines of any speed."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 240.0
"""Seconds after which what has not come will not come; far beyond what any machine needs."""

BROWSER_PATIENCE = PATIENCE * 1000
"""The same in milliseconds, as Playwright counts."""


LONGEST = 1.5 * PATIENCE
"""Seconds after which a test that is not `slow` is ended, whatever it waits for."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends what takes longer with a `TimeoutError`, in the main thread only."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds:.0f} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
