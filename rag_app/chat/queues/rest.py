"""What is done once nothing has been going on for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Rest:
    """Waits for a pause in what several threads do.

    Args:
        work: Called in a thread of its own, once in each pause.
        after: Seconds of a pause before it.
    """

    def __init__(self, work: Callable[[], object], *, after: float) -> None:
        self._work, self._after = work, after
        self._busy = 0
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    @contextmanager
    def disturbed(self) -> Iterator[None]:
        """Something is going on inside the block."""
        with self._lock:
            self._busy += 1
            if self._timer is not None:
                self._timer.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1
                if not self._busy:
                    self._timer = threading.Timer(self._after, self._work)
                    self._timer.daemon = True
                    self._timer.start()
