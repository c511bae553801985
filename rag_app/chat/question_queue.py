"""Questions from every surface, put to one corpus one after another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.answer import AnswerReady
from rag_app.chat.fair_queue import Line

if TYPE_CHECKING:
    from generator.answer import Answer, Event
    from generator.position_check import PositionCheck
    from generator.request import AskRequest
    from rag_app.corpus.corpus import Corpus

LOOK = 0.25  # seconds between looks at the line, and at whether somebody has said stop


@dataclass(frozen=True, slots=True)
class Waiting:
    """The question waits for others.

    Attributes:
        ahead: How many are answered before it.
    """

    ahead: int


class _Stopped(Exception):
    """Somebody does not want to know any more."""


class Asking:
    """Puts questions to a corpus, one at a time and fairly.

    Args:
        corpus: What is asked.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._line = Line()

    def stream(
        self, request: AskRequest, *, who: str, stop: threading.Event | None = None
    ) -> Iterator[Event | Waiting]:
        """The events of an answer, after those of waiting for it.

        Args:
            request: What to ask.
            who: Whose turn it takes.
            stop: Set by another thread to end it; there is no AnswerReady then.

        Raises:
            Busy: Too many are waiting.
            RagAppError: As `Corpus.stream`.
        """
        halted = stop or threading.Event()
        with self._line.place(who) as place:
            while not place.wait(LOOK):
                if halted.is_set():
                    return
                yield Waiting(place.ahead)
            with closing(self.corpus.events(request, stop=halted)) as events:
                for event in events:
                    if halted.is_set():
                        return
                    yield event

    def check(
        self,
        request: AskRequest,
        usual: Answer,
        *,
        who: str,
        stop: threading.Event,
        progress: Callable[[int, int], None],
    ) -> PositionCheck | None:
        """Ask again with the evidence elsewhere, in a turn of its own; None when it was stopped.

        Args:
            request: As it was asked.
            usual: What was answered.
            who: Whose turn it takes.
            stop: Set by another thread to end it.
            progress: Told how many ways are done, of how many; (0, 0) while it waits.

        Raises:
            Busy: Too many are waiting.
            RagAppError: As `Corpus.check_position`.
        """

        def told(done: int, ways: int) -> None:
            if stop.is_set():
                raise _Stopped
            progress(done, ways)

        with self._line.place(who) as place, suppress(_Stopped):
            while not place.wait(LOOK):
                told(0, 0)
            return self.corpus.check_position(request, usual=usual, progress=told)
        return None

    async def stream_async(
        self, request: AskRequest, *, who: str
    ) -> AsyncGenerator[Event | Waiting, None]:
        """As `stream`, for a web server; whoever stops listening stops the answer."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[Event | Waiting | BaseException | None] = asyncio.Queue()
        halted = threading.Event()

        def tell(what: Event | Waiting | BaseException | None) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(arrived.put_nowait, what)

        def work() -> None:
            try:
                for event in self.stream(request, who=who, stop=halted):
                    tell(event)
            except BaseException as error:
                tell(error)
            tell(None)

        threading.Thread(target=work, name="answer", daemon=True).start()
        try:
            while (what := await arrived.get()) is not None:
                if isinstance(what, BaseException):
                    raise what
                yield what
        finally:
            halted.set()

    async def answer(self, request: AskRequest, *, who: str) -> Answer:
        """The whole answer; errors as in `stream`."""
        async with aclosing(self.stream_async(request, who=who)) as events:
            async for event in events:
                if isinstance(event, AnswerReady):
                    return event.answer
        raise AssertionError("a stream that nobody stops ends with its answer")
