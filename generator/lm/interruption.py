"""Pieces that somebody waits for in a thread of their own, so that nobody has to wait for them."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import TypeVar

_PAUSE = 0.1  # seconds between two looks at whether to stop

T = TypeVar("T")


class _End:
    """After the last piece."""


def interruptible(
    pieces: Generator[T], *, stop: threading.Event | None, cancel: Callable[[], None]
) -> Generator[T]:
    """The same pieces, until `stop` is set by another thread or nobody wants more.

    They are made in a thread of their own, so that it ends at once however long the next one takes;
    `cancel` breaks off what that thread waits for.
    """
    items: queue.SimpleQueue[T | _End | Exception] = queue.SimpleQueue()
    over = threading.Event()

    def work() -> None:
        try:
            with closing(pieces):
                for piece in pieces:
                    items.put(piece)
                    if over.is_set():
                        return
            items.put(_End())
        except Exception as error:  # raised in the other thread
            items.put(error)

    threading.Thread(target=work, name="pieces", daemon=True).start()
    try:
        while stop is None or not stop.is_set():
            with suppress(queue.Empty):
                item = items.get(timeout=_PAUSE)
                if isinstance(item, _End):
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
    finally:
        over.set()
        cancel()


class Connections:
    """The connections of one request, to be broken off at once; no later one lives then."""

    def __init__(self) -> None:
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self.broken_off = False

    def add(self, connection: socket.socket) -> None:
        """Take part: of a request that was broken off, it ends right away."""
        with self._lock:
            self._open.append(connection)
        if self.broken_off:
            self.break_off()

    def break_off(self) -> None:
        """End all connections, so that whoever reads from one reads its end."""
        with self._lock:
            self.broken_off = True
            for one in self._open:
                with suppress(OSError):  # of one that is closed already
                    one.shutdown(socket.SHUT_RDWR)
