"""Resident memory of a process: its own, and pages of files that it has mapped.

The system takes mapped pages back when others want memory; a process's own it cannot.
"""

from __future__ import annotations

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

_INTERVAL = 0.05  # seconds between samples


@dataclass(slots=True)
class Memory:
    """Peaks in megabytes.

    Attributes:
        own: Memory that is the process's own.
        mapped: Pages of files.
    """

    own: float = 0.0
    mapped: float = 0.0

    def sample(self) -> None:
        """Raise the peaks to what is resident now, where that is more."""
        own, mapped = resident_memory()
        self.own, self.mapped = max(self.own, own), max(self.mapped, mapped)


@contextmanager
def peak_memory() -> Iterator[Memory]:
    """The peaks of this process inside the block, sampled twenty times a second."""
    peaks, stop = Memory(), threading.Event()

    def watch() -> None:
        while not stop.wait(_INTERVAL):
            peaks.sample()

    thread = threading.Thread(target=watch, daemon=True)
    peaks.sample()
    thread.start()
    try:
        yield peaks
    finally:
        stop.set()
        thread.join()
        peaks.sample()


def resident_memory() -> tuple[float, float]:
    """Megabytes of this process in memory now: its own, and mapped from files.

    Where there is no /proc (not Linux), the peak so far stands for its own.
    """
    try:
        _, resident, shared = Path("/proc/self/statm").read_text("ascii").split()[:3]
    except OSError:
        return max_rss(), 0.0
    page = resource.getpagesize() / 1e6
    return round((int(resident) - int(shared)) * page, 1), round(int(shared) * page, 1)


def max_rss() -> float:
    """Peak of resident megabytes since this process began, mapped files included."""
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(rss / 1e6 if sys.platform == "darwin" else rss * 1024 / 1e6, 1)


@contextmanager
def touched_files() -> Iterator[list[float]]:
    """Megabytes of mapped files that this process touches inside the block, put into the list.

    What is left of a machine's memory must hold so much, for the same work not to read the disk
    again. The list stays empty where the system does not tell (not Linux).
    """
    found: list[float] = []
    clear = Path("/proc/self/clear_refs")
    if not clear.exists():
        yield found
        return
    clear.write_text("1")  # no page was referenced
    yield found
    files = (one for one in psutil.Process().memory_maps() if one.path.startswith("/"))
    found.append(round(sum(one.referenced for one in files) / 1e6, 1))
