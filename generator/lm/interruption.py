"""Ends a read from a socket that waits, as soon as somebody asks for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_PAUSE = 0.1  # seconds between two looks at whether to stop


@contextmanager
def interruptible(
    stop: threading.Event | None, connection: Callable[[], socket.socket | None]
) -> Iterator[None]:
    """Shuts the connection down when `stop` is set, so that whoever reads from it reads its end.

    Args:
        stop: Set by another thread; None for never.
        connection: The socket in use; None as long as there is none.
    """
    if stop is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_PAUSE):
            if stop.is_set() and (open_socket := connection()) is not None:
                with suppress(OSError):  # of one that is closed already
                    open_socket.shutdown(socket.SHUT_RDWR)
                return

    watcher = threading.Thread(target=watch, name="stop", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
