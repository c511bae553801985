"""How much memory a process holds: its own, and pages of files that it has mapped.

Mapped pages are taken back by the system when others want memory; a process's own are not.
"""

from __future__ import annotations

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.05  # seconds


@dataclass(slots=True)
class Memory:
    """The most that was seen, in megabytes.

    Attributes:
        own: Memory that is the process's own.
        mapped: Pages of files.
    """

    own: float = 0.0
    mapped: float = 0.0

    def look(self) -> None:
        """What is held now, if it is more."""
        own, mapped = held()
        self.own, self.mapped = max(self.own, own), max(self.mapped, mapped)


@contextmanager
def watched() -> Iterator[Memory]:
    """The most that this process holds inside, looked at many times a second."""
    seen, over = Memory(), threading.Event()

    def look() -> None:
        while not over.wait(_EVERY):
            seen.look()

    thread = threading.Thread(target=look, daemon=True)
    seen.look()
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
        seen.look()


def held() -> tuple[float, float]:
    """Megabytes of this process in memory now: its own, and mapped from files.

    Where there is no /proc (not Linux), the most that it ever held stands for its own.
    """
    try:
        _, resident, shared = Path("/proc/self/statm").read_text("ascii").split()[:3]
    except OSError:
        return peak(), 0.0
    page = resource.getpagesize() / 1e6
    return round((int(resident) - int(shared)) * page, 1), round(int(shared) * page, 1)


def peak() -> float:
    """The most megabytes that this process ever held, mapped files included."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6, 1)
