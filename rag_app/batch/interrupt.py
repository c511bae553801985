"""Ctrl-C or SIGTERM: questions in progress are finished and saved, no further one is started."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
MESSAGE = "rag-app: stopping after the questions in progress; Ctrl-C again quits at once\n"
_SHOW_CURSOR = "\x1b[?25h"  # which a progress bar has hidden


class StopRequest:
    """Whether to stop; called between questions. It holds the signal that arrived."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        """Whether a signal has arrived."""
        return self.signal is not None

    @property
    def status(self) -> int:
        """The exit status of a shell for the signal: 130 for Ctrl-C."""
        return 128 + (self.signal or 0)


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Handle the signals within the context; the second one ends the process.

    That is safe at any moment, as a kill is. Only the main thread may use it.
    """
    stop = StopRequest()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop():
            _quit(number)
        stop.signal = number
        _write(MESSAGE)

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _quit(number: int) -> None:
    if sys.stderr.isatty():
        _write(_SHOW_CURSOR)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _write(text: str) -> None:
    """To standard error past all buffers, as a signal may come in the midst of another write."""
    try:
        os.write(2, text.encode())
    except OSError:  # nobody reads it
        return
