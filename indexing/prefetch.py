"""Files are read in a thread while those before them are encoded: in order, and only a few ahead.

The thread waits for the process that reads (`indexing.loaders.process`), so it hardly uses the CPU.
What needs the store, or reports progress, runs in the thread that takes the contents: a database
connection belongs to one thread, and a progress bar shows the current file. So pictures of pages,
which are looked up and stored one by one, are read only once their file is the current one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Generic, TypeVar

FILES = 8
"""How many may wait to be taken."""

CHARACTERS = 4_000_000
"""In files that wait, from which on no further file is read."""

_POLL = 1.0  # seconds between looks at Ctrl-C, where waiting hides it (Windows)
_RETRY = 0.1  # seconds between interruptions of a reading, which may be about to begin

Item = TypeVar("Item")
Content = TypeVar("Content")

OnCaller = Callable[[Callable[[], Any]], Any]
"""Runs a function in the thread that takes the contents; returns what it returns."""


def run_here(function: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the function returns
    """An `OnCaller` where there is no other thread."""
    return function()


class _Closed(BaseException):
    """Nobody takes the contents any more."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A function to run in the thread that takes the contents; the reading thread waits for it."""

    function: Callable[[], Any]
    result: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why the thread has ended."""

    error: BaseException


class Prefetch(Generic[Item, Content]):
    """The contents of files, in order: a context that is iterated over once.

    Args:
        items: The files.
        read: Reads one. What it raises is raised where its content is taken.
        size: Characters of a content.
        interrupt: Breaks off what `read` is doing in the thread that it is given, if anything.
    """

    def __init__(
        self,
        items: Sequence[Item],
        read: Callable[[Item, OnCaller], Content],
        *,
        size: Callable[[Content], int],
        interrupt: Callable[[threading.Thread], None],
    ) -> None:
        self._items, self._read, self._size, self._interrupt = items, read, size, interrupt
        self._messages: SimpleQueue[_Call | _Failure | tuple[Content]] = SimpleQueue()
        self._room = threading.Condition()  # guards what follows, too
        self._files = self._characters = 0  # that wait
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="prefetch", daemon=True)

    def __enter__(self) -> Iterator[Content]:
        self._thread.start()
        return (self._next() for _ in self._items)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._room:
            self._closed = True
            while not self._messages.empty():
                message = self._messages.get()
                if isinstance(message, _Call):
                    message.result.set_exception(_Closed())
            self._room.notify()
        while self._thread.is_alive():
            self._interrupt(self._thread)
            self._thread.join(_RETRY)

    # In the thread that takes the contents

    def _next(self) -> Content:
        while True:
            try:
                message = self._messages.get(timeout=_POLL)
            except Empty:
                continue
            if isinstance(message, _Failure):
                raise message.error
            if not isinstance(message, _Call):
                break
            try:
                message.result.set_result(message.function())
            except BaseException:
                message.result.set_exception(_Closed())
                raise
        (content,) = message
        with self._room:
            self._files -= 1
            self._characters -= self._size(content)
            self._room.notify()
        return content

    # In the reading thread

    def _run(self) -> None:
        try:
            for item in self._items:
                self._wait_for_room()
                content = self._read(item, self._on_caller)
                with self._room:
                    self._files += 1
                    self._characters += self._size(content)
                self._send((content,))
        except _Closed:
            return
        except BaseException as error:
            with suppress(_Closed):
                self._send(_Failure(error))

    def _wait_for_room(self) -> None:
        with self._room:
            while not self._closed and not (self._files < FILES and self._characters < CHARACTERS):
                self._room.wait()
            if self._closed:
                raise _Closed

    def _on_caller(self, function: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it returns
        call = _Call(function)
        self._send(call)
        return call.result.result()

    def _send(self, message: _Call | _Failure | tuple[Content]) -> None:
        with self._room:
            if self._closed:
                raise _Closed
            self._messages.put(message)
