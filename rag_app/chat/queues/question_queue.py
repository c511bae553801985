"""Questions from every surface, asked of one corpus; quotes do not wait for generated answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from generator.answer import Answer, AnswerReady, Event
from generator.position_check import PositionCheck
from generator.request import AskRequest
from indexing.filter import Scope
from indexing.models.graphs.cores import Cores
from indexing.models.runtime import release_memory
from rag_app.chat.queues.fair_queue import FairQueue
from rag_app.chat.queues.idle_timer import IdleTimer
from rag_app.chat.queues.own_thread import in_own_thread
from rag_app.corpus.access import SharedCorpus

Read = TypeVar("Read")

POLL_SECONDS = 0.25  # between looks at the queue and at `stop`
PAUSE = 10.0  # seconds without an answer, after which memory that was freed is given back
MOST_AT_ONCE = 4  # questions for quotes that are answered at once; each takes some 100 MB


@dataclass(frozen=True, slots=True)
class Waiting:
    """The question waits: so many are answered before it."""

    ahead: int


class Stopped(Exception):
    """A position check, or a call that waited for its turn, was stopped."""


class QuestionQueue:
    """Asks questions of a corpus, in the order of two `FairQueue`s.

    One is that of the language model, which answers one question at a time. Quotes need no language
    model, so their questions wait for each other only; as many are answered at once as there are
    cores, up to MOST_AT_ONCE, and share these.
    """

    def __init__(self, corpus: SharedCorpus, cores: Cores | None = None) -> None:
        self.corpus = corpus
        self._cores = cores or Cores()
        self._quotes = FairQueue(min(self._cores.count, MOST_AT_ONCE))
        self._model = FairQueue()
        self._idle = IdleTimer(release_memory, after=PAUSE)

    @property
    def is_idle(self) -> bool:
        """Whether nobody is being answered, and nobody waits."""
        return self._quotes.is_idle and self._model.is_idle

    def _queue(self, request: AskRequest) -> FairQueue:
        """The one in which a request waits."""
        from generator.lm.calibration_record import usual

        settings = self.corpus.generator_settings
        mode = request.mode or settings.answer or usual(settings.model).mode
        return self._quotes if mode == "quote" else self._model

    def stream(
        self, request: AskRequest, scope: Scope, *, who: str, stop: threading.Event | None = None
    ) -> Iterator[Event | Waiting]:
        """The events of an answer, after those of waiting for it in somebody's place in the queue.

        Another thread ends it by `stop`; there is no AnswerReady then.

        Raises:
            Busy: Too many are waiting.
            RagAppError: As `Corpus.stream`.
        """
        stop = stop or threading.Event()
        with self._queue(request).ticket(who) as ticket:
            while not ticket.wait(POLL_SECONDS):
                if stop.is_set():
                    return
                yield Waiting(ticket.ahead)
            with (
                self._idle.busy(),
                self._cores.share(),
                closing(self.corpus.seen_by(scope).events(request, stop=stop)) as events,
            ):
                for event in events:
                    if stop.is_set():
                        return
                    yield event

    def turn(self, read: Callable[[], Read], who: str, stop: threading.Event) -> Read:
        """As `in_turn`, for a thread that waits.

        Raises:
            Busy: Too many are waiting.
            Stopped: `stop` was set by another thread before it was its turn.
        """
        with self._quotes.ticket(who) as ticket:
            while not ticket.wait(POLL_SECONDS):
                if stop.is_set():
                    raise Stopped
            with self._idle.busy(), self._cores.share():
                return read()

    async def in_turn(self, read: Callable[[], Read], *, who: str) -> Read:
        """What a call gives that reads as much as several questions, after those that wait.

        It waits in a thread of its own, as pages are made in those of `asyncio.to_thread`.
        Whoever is cancelled leaves the queue.

        Raises:
            Busy: Too many are waiting.
        """
        stop = threading.Event()
        try:
            return await in_own_thread(partial(self.turn, read, who, stop), name="turn")
        finally:
            stop.set()

    def check(  # noqa: PLR0913 - three of them by keyword
        self,
        request: AskRequest,
        scope: Scope,
        usual: Answer,
        *,
        who: str,
        stop: threading.Event,
        progress: Callable[[int, int], None],
    ) -> PositionCheck | None:
        """Check an answer with its evidence in other orders; None when it was stopped.

        `progress` is called with variants done, and their number; (0, 0) while it waits.

        Raises:
            Busy: Too many are waiting.
            RagAppError: As `Corpus.check_position`.
        """

        def advance(done: int, variants: int) -> None:
            if stop.is_set():
                raise Stopped
            progress(done, variants)

        with self._model.ticket(who) as ticket, suppress(Stopped):
            while not ticket.wait(POLL_SECONDS):
                advance(0, 0)
            with self._cores.share():
                seen = self.corpus.seen_by(scope)
                return seen.check_position(request, usual=usual, progress=advance)
        return None

    async def astream(
        self, request: AskRequest, scope: Scope, *, who: str
    ) -> AsyncGenerator[Event | Waiting, None]:
        """As `stream`, for a web server; closing it stops the answer."""
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[Event | Waiting | BaseException | None] = asyncio.Queue()
        stop = threading.Event()

        def put(item: Event | Waiting | BaseException | None) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(items.put_nowait, item)

        def work() -> None:
            try:
                for event in self.stream(request, scope, who=who, stop=stop):
                    put(event)
            except BaseException as error:
                put(error)
            put(None)

        threading.Thread(target=work, name="answer", daemon=True).start()
        try:
            while (item := await items.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            stop.set()

    async def answer(self, request: AskRequest, scope: Scope, *, who: str) -> Answer:
        """The complete answer; errors as in `stream`."""
        async with aclosing(self.astream(request, scope, who=who)) as events:
            async for event in events:
                if isinstance(event, AnswerReady):
                    return event.answer
        raise AssertionError("a stream that nobody stops ends with its answer")
