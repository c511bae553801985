"""Files read in a thread while those before them are encoded: in order, and only a few ahead.

The thread waits for the process that reads (`indexing.loaders.process`), so it hardly takes a core.
What it needs of the store, and what it has to tell a person, it asks the other side to do for it:
a connection belongs to one thread, and a progress bar shows the file in hand. So pictures of pages,
which are looked up and kept one by one, are read when it is their file's turn.
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
"""How many may have been read before it is their turn."""

CHARACTERS = 4_000_000
"""Of them, from which on no further file is read ahead."""

_LOOK = 1.0  # seconds between looks at Ctrl-C, where waiting hides it (Windows)
_AGAIN = 0.1  # seconds between interruptions of a reading, which may be about to begin

Item = TypeVar("Item")
Content = TypeVar("Content")

Ask = Callable[[Callable[[], Any]], Any]
"""Has something done by whoever waits for what is read, and gives what that gave."""


def directly(work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work gives
    """An `Ask` where reader and asker are one."""
    return work()


class _Left(BaseException):
    """Nobody waits any more for what is read."""


@dataclass(frozen=True, slots=True)
class _Call:
    """What the thread asks for; it waits for the answer."""

    work: Callable[[], Any]
    answer: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Failed:
    """Why the thread has ended."""

    error: BaseException


class ReadingAhead(Generic[Item, Content]):
    """The contents of files, in order: a context to iterate over once, at whose end reading stops.

    Args:
        items: The files.
        read: Reads one. What it raises is raised where its content is waited for.
        size: Characters of a content.
        interrupt: Breaks off what `read` is doing in the thread that it is given, if anything.
    """

    def __init__(
        self,
        items: Sequence[Item],
        read: Callable[[Item, Ask], Content],
        *,
        size: Callable[[Content], int],
        interrupt: Callable[[threading.Thread], None],
    ) -> None:
        self._items, self._read, self._size, self._interrupt = items, read, size, interrupt
        self._said: SimpleQueue[_Call | _Failed | tuple[Content]] = SimpleQueue()
        self._room = threading.Condition()  # for what follows, too
        self._files = self._characters = 0  # read, and not taken
        self._left = False
        self._thread = threading.Thread(target=self._run, name="reading-ahead", daemon=True)

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
            self._left = True
            while not self._said.empty():
                said = self._said.get()
                if isinstance(said, _Call):
                    said.answer.set_exception(_Left())
            self._room.notify()
        while self._thread.is_alive():
            self._interrupt(self._thread)
            self._thread.join(_AGAIN)

    # What the side does that waits.

    def _next(self) -> Content:
        while True:
            try:
                said = self._said.get(timeout=_LOOK)
            except Empty:
                continue
            if isinstance(said, _Failed):
                raise said.error
            if not isinstance(said, _Call):
                break
            try:
                said.answer.set_result(said.work())
            except BaseException:
                said.answer.set_exception(_Left())
                raise
        (content,) = said
        with self._room:
            self._files -= 1
            self._characters -= self._size(content)
            self._room.notify()
        return content

    # What the thread does.

    def _run(self) -> None:
        try:
            for item in self._items:
                self._wait_for_room()
                content = self._read(item, self._ask)
                with self._room:
                    self._files += 1
                    self._characters += self._size(content)
                self._say((content,))
        except _Left:
            return
        except BaseException as error:
            with suppress(_Left):
                self._say(_Failed(error))

    def _wait_for_room(self) -> None:
        with self._room:
            while not self._left and not (self._files < FILES and self._characters < CHARACTERS):
                self._room.wait()
            if self._left:
                raise _Left

    def _ask(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work gives
        call = _Call(work)
        self._say(call)
        return call.answer.result()

    def _say(self, said: _Call | _Failed | tuple[Content]) -> None:
        with self._room:
            if self._left:
                raise _Left
            self._said.put(said)
