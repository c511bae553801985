"""A request in, the events of its answer out: routed, searched for, and quoted or generated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from generator.request import AskRequest
from indexing.errors import InvalidRequest
from rag_app.corpus.models import Models
from rag_app.corpus.search import Search
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from generator.answer import Answer, Event
    from generator.evidence import Sentence
    from generator.generator import Generator as AnswerGenerator
    from generator.position_check import PositionCheck
    from rag_app.corpus.cluster.answers import Generate
    from rag_app.corpus.cluster.workers import RayWorkers, WorkerPool
    from rag_app.requests.router import Route, Router


@dataclass(frozen=True)
class QuestionAnswering:
    """What answers requests over a corpus.

    Attributes:
        stores: Its documents.
        search: What retrieves evidence.
        models: What generates.
        workers: The Ray cluster that makes answers instead, if there is one.
        notify: Called with a message about anything that takes long.
    """

    stores: Stores
    search: Search
    models: Models
    workers: RayWorkers | None
    notify: Callable[[str], None] | None

    @property
    def concurrency(self) -> int:
        """How many requests are best made at once: on a cluster, two for each worker."""
        return 1 if self.workers is None else max(1, 2 * self._pool.count)

    def answer(self, request: AskRequest) -> Answer:
        """The answer, from the cluster where there is one."""
        from generator.answer import AnswerReady

        for event in self._events(request, None, on_workers=self.workers is not None):
            if isinstance(event, AnswerReady):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def events(self, request: AskRequest, stop: threading.Event | None = None) -> Generator[Event]:
        """The events of the answer, made here; `stop`, set by another thread, ends it early."""
        return self._events(request, stop)

    def probability(self, request: AskRequest, without: Callable[[Sentence], bool] | None) -> float:
        """The probability that the documents answer a request, made here."""
        route = self._route(request)
        retrieval, _ = self.search.evidence(route.request)
        return self._generator.probability(route.request, retrieval, without=without)

    def check_position(
        self,
        request: AskRequest,
        *,
        usual: Answer | None,
        progress: Callable[[int, int], None] | None,
    ) -> PositionCheck:
        """Whether the answer stays the same with its evidence in other orders."""
        from generator.position_check import check

        route = self._route(request)
        if route.everywhere and usual and usual.read_as == route.everywhere.read_as:
            route = route.everywhere
        if route.lines is not None:
            raise InvalidRequest(
                f"the answer to {route.read_as} is computed, so it rests on no order of "
                "passages; check the position with a question"
            )
        request = route.request
        (retrieval, _), generator = self.search.evidence(request), self._generator
        usual = usual or generator.answer(request, retrieval)
        return check(generator, request, retrieval, usual, progress=progress)

    def _events(
        self, request: AskRequest, stop: threading.Event | None, *, on_workers: bool = False
    ) -> Generator[Event]:
        """The events of the answer; where dates or people left nothing, of one without them."""
        route = self._route(request)
        if route.everywhere is None:
            yield from self._events_of(route, stop, on_workers=on_workers)
            return
        nothing: list[Event] = []
        for tried in (route, route.everywhere):
            withheld: list[Event] = []
            answers = False
            for event in self._events_of(tried, stop, on_workers=on_workers):
                withheld.append(event)
                answers = answers or not (tried.abstains or _is_nothing(withheld))
                if answers:
                    yield from withheld
                    withheld.clear()
            if answers or (stop is not None and stop.is_set()):
                return
            nothing = nothing or withheld
        yield from nothing

    def _events_of(
        self, route: Route, stop: threading.Event | None, *, on_workers: bool
    ) -> Generator[Event]:
        from generator.answer import AnswerReady, with_entries

        started = time.perf_counter()
        if route.lines is not None:
            yield from route.events(time.perf_counter() - started)
            return
        evidence, lost = self.search.evidence(route.request)
        retrieval = replace(evidence, seconds=time.perf_counter() - started)
        if on_workers:
            answer = self._generate(route.request, retrieval)
            yield with_entries(route.marked(AnswerReady(answer)), lost)
            return
        for event in self._generator.stream(route.request, retrieval, stop=stop):
            marked = route.marked(event) if isinstance(event, AnswerReady) else event
            yield with_entries(marked, lost)

    def _route(self, request: AskRequest) -> Route:
        """How a request is answered: from the store, or by a search of the documents it names."""
        with self.stores.reading() as store:
            limited = store.limited(request.where)
            return self._router.route(request, limited, self.search.spelling(limited))

    @cached_property
    def _router(self) -> Router:
        from rag_app.requests.router import Router

        return Router()

    @property
    def _generator(self) -> AnswerGenerator:
        return self.models.generator(self.stores.connection().fingerprint())

    @property
    def _generate(self) -> Generate:
        """What answers on the cluster."""
        from rag_app.corpus.cluster.answers import generate_on

        stored = self.stores.connection().fingerprint()
        return generate_on(self._pool, self.models.generator_settings, stored)

    @cached_property
    def _pool(self) -> WorkerPool:
        from rag_app.corpus.cluster.workers import WorkerPool

        assert self.workers is not None, "asked for only where there are some"
        return WorkerPool(self.workers, self.notify)


def _is_nothing(events: Sequence[Event]) -> bool:
    """Whether an answer says that there is none, as far as its events go."""
    from generator.answer import NOT_SAID, AnswerReady, TextDelta

    if isinstance(last := events[-1], AnswerReady):
        return last.answer.abstained
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return NOT_SAID.startswith(text)
