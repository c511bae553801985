"""A request in, the events of its answer out: routed, searched for, and quoted or generated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from generator.instances.every import EveryRequest
from generator.request import AskRequest, Retrieval
from indexing.documents import Document, Hit, PassageHit
from indexing.errors import InvalidRequest
from indexing.filter import Scope
from rag_app.corpus.contents.aliases import in_any_spelling
from rag_app.corpus.models import Models
from rag_app.corpus.search import Moment, Search
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from generator.answer import Answer, Citation, ContextEntry, Event
    from generator.evidence import Evidence, Sentence
    from generator.generator import Generator as AnswerGenerator
    from generator.instances.instances import Instances
    from generator.position_check import PositionCheck
    from rag_app.corpus.cluster.answers import Generate
    from rag_app.corpus.cluster.workers import RayWorkers, WorkerPool
    from rag_app.requests.router import Route, Router


@dataclass(frozen=True, slots=True)
class _Found:
    """How a request is answered, and what was found for it."""

    route: Route  # how
    retrieval: Retrieval  # nothing where the answer is computed
    lost: tuple[ContextEntry, ...] = ()  # a line of the ledger for each lost shard


@dataclass(frozen=True)
class QuestionAnswering:
    """What answers requests over a corpus."""

    stores: Stores  # its documents
    search: Search  # what retrieves evidence
    models: Models  # what generates
    workers: RayWorkers | None  # the Ray cluster that makes answers instead, if there is one
    notify: Callable[[str], None] | None  # called with a message about anything that takes long

    @property
    def concurrency(self) -> int:
        """How many requests are best made at once: on a cluster, two for each worker."""
        return 1 if self.workers is None else max(1, 2 * self._pool.count)

    def answer(self, request: AskRequest, scope: Scope) -> Answer:
        """The answer, from the cluster where there is one."""
        from generator.answer import AnswerReady

        for event in self.events(request, scope, on_workers=self.workers is not None):
            if isinstance(event, AnswerReady):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def probability(
        self, request: AskRequest, scope: Scope, without: Callable[[Sentence], bool] | None
    ) -> float:
        """The probability that the documents answer a request, made here."""
        found = self._find(request, scope, to_quote=True)[0]
        return self._generator.probability(found.route.request, found.retrieval, without=without)

    def every(
        self,
        request: EveryRequest,
        scope: Scope,
        progress: Callable[[int, int], None] | None = None,
    ) -> Instances:
        """Every place where documents say what is asked for, read here, all of one moment."""
        aliases = self.search.aliases
        where = in_any_spelling(request.where, aliases)
        request = replace(request, question=aliases.named(request.question), where=where)

        def listed(moment: Moment) -> Instances:
            return self._every(request, moment, progress)

        return self.search.at_one_moment(where, scope, listed)

    def _every(
        self,
        request: EveryRequest,
        moment: Moment,
        progress: Callable[[int, int], None] | None = None,
    ) -> Instances:
        from generator.instances.every import every
        from generator.instances.places import places
        from rag_app.requests.mentions import asked_in

        asked, aliases = asked_in(request.question), self.search.aliases
        judge = partial(places, asked, read=self._generator.read, aliases=aliases)
        catches = self.search.catches(request, moment)
        return every(request, catches, moment.parts.document, judge, progress=progress)

    def evidence(self, request: AskRequest, scope: Scope) -> Evidence:
        """What an answer made now may rest on, by each of the ways to make it."""
        from generator.evidence import Evidence, gather_evidence

        most, speaker = self.models.generator_settings.passages, request.where.speaker
        each = [
            gather_evidence(found.retrieval.hits, found.retrieval.document, speaker=speaker)
            for found in self._find(request, scope)
        ]
        passages = (passage for one in each for passage in one.best(most))
        return Evidence(tuple(passages), tuple(span for one in each for span in one.whole))

    def quotes(
        self, request: AskRequest, document: Document, start: int, end: int
    ) -> Sequence[Citation]:
        """What a span of a document has to say to a question; nothing where it does not answer."""
        passage = PassageHit(start, end, document.text[start:end], 1.0)
        hit = Hit(document.id, document.title, document.path, document.part, 1.0, (passage,))
        retrieval = Retrieval((hit,), {document.id: document}.__getitem__)
        request = replace(request, aliases=self.search.aliases)
        return self._generator.answer(request, retrieval).citations

    def check_position(
        self,
        request: AskRequest,
        scope: Scope,
        *,
        usual: Answer | None,
        progress: Callable[[int, int], None] | None,
    ) -> PositionCheck:
        """Whether the answer stays the same with its evidence in other orders."""
        from generator.position_check import check

        first, *others = self._find(request, scope)
        found = next((one for one in others if usual and usual.read_as == one.route.read_as), first)
        route = found.route
        if route.lines is not None:
            raise InvalidRequest(
                f"the answer to {route.read_as} is computed, so it rests on no order of "
                "passages; check the position with a question"
            )
        request, retrieval, generator = route.request, found.retrieval, self._generator
        usual = usual or generator.answer(request, retrieval)
        return check(generator, request, retrieval, usual, progress=progress)

    def events(
        self,
        request: AskRequest,
        scope: Scope,
        stop: threading.Event | None = None,
        *,
        on_workers: bool = False,
    ) -> Generator[Event]:
        """The events of the answer; `stop`, set by another thread, ends it early.

        Where dates or people left nothing, they are those of an answer without them.
        """
        found = self._find(request, scope)
        if len(found) == 1:
            yield from self._events_of(found[0], stop, on_workers=on_workers)
            return
        nothing: list[Event] = []
        for tried in found:
            withheld: list[Event] = []
            answers = False
            for event in self._events_of(tried, stop, on_workers=on_workers):
                withheld.append(event)
                answers = answers or not (tried.route.abstains or _is_nothing(withheld))
                if answers:
                    yield from withheld
                    withheld.clear()
            if answers or (stop is not None and stop.is_set()):
                return
            nothing = nothing or withheld
        yield from nothing

    def _events_of(
        self, found: _Found, stop: threading.Event | None, *, on_workers: bool
    ) -> Generator[Event]:
        from generator.answer import AnswerReady, with_entries

        route, retrieval, lost = found.route, found.retrieval, found.lost
        if route.lines is not None:
            yield from route.events(retrieval.seconds or 0.0)
            return
        if on_workers:
            answer = self._generate(route.request, retrieval)
            yield with_entries(route.marked(AnswerReady(answer)), lost)
            return
        for event in self._generator.stream(route.request, retrieval, stop=stop):
            marked = route.marked(event) if isinstance(event, AnswerReady) else event
            yield with_entries(marked, lost)

    def _find(self, request: AskRequest, scope: Scope, *, to_quote: bool = False) -> list[_Found]:
        """How a request is answered, and its evidence, all of one moment.

        With a second way, if there is one, for where the first finds nothing.

        Args:
            request: What is asked.
            scope: What may be read.
            to_quote: Whether evidence is wanted where the answer is computed, too.
        """
        started = time.perf_counter()
        if aliases := self.search.aliases:
            where = in_any_spelling(request.where, aliases)
            request = replace(request, aliases=aliases, where=where)

        def read(moment: Moment) -> list[_Found]:
            limited = moment.store.limited(request.where, scope)
            route = self._router.route(request, limited, self.search.spelling(limited))
            found = [find(each, moment) for each in (route, route.everywhere) if each is not None]
            return [one for one in found if _is_told(one)]

        def find(route: Route, moment: Moment) -> _Found:
            evidence = Retrieval((), dict[str, Document]().__getitem__)
            if route.target.kind == "instances":
                asked = EveryRequest(route.request.asked, where=route.request.where)
                route = route.with_every(self._every(asked, moment))
            lost: tuple[ContextEntry, ...] = ()
            if route.lines is None or to_quote:
                evidence, lost = self.search.evidence(route.request, scope, moment)
            seconds = time.perf_counter() - started
            return _Found(route, replace(evidence, seconds=seconds), lost)

        return self.search.at_one_moment(request.where, scope, read)

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


def _is_told(found: _Found) -> bool:
    """Whether the evidence says the day that was asked for, where it has to."""
    required = found.route.required
    passages = (each.text for hit in found.retrieval.hits for each in hit.passages)
    return required is None or any(map(required.search, passages))


def _is_nothing(events: Sequence[Event]) -> bool:
    """Whether an answer says that there is none, as far as its events go."""
    from generator.answer import NOT_SAID, AnswerReady, TextDelta

    if isinstance(last := events[-1], AnswerReady):
        return last.answer.abstained
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return NOT_SAID.startswith(text)
