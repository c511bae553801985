"""Work that is done once a program has been idle for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class IdleTimer:
    """Calls a function once several threads have all been idle for so many seconds.

    It is called in a thread of its own, once in each idle period.
    """

    def __init__(self, work: Callable[[], object], *, after: float) -> None:
        self._work, self._after = work, after
        self._count = 0  # threads that are busy
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """The program is not idle inside the block."""
        with self._lock:
            self._count += 1
            if self._timer is not None:
                self._timer.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if not self._count:
                    self._timer = threading.Timer(self._after, self._work)
                    self._timer.daemon = True
                    self._timer.start()
