"""Shards on the machines of a Ray cluster: an actor for each replica of each, asked in parallel.

Ray schedules, starts and restarts the actors and carries the messages. A question goes in rounds
(`retriever.rounds`) over one replica of every shard; if a replica is lost in the midst of it, the
question is asked again over others. Nothing but reading is ever done twice. The actors copy the
states of shards from the corpus's own folder, which has to be there under the same path on every
machine (NFS, or another shared file system), to a disk of their own.

What Ray sends between its own processes it pickles: who can reach its ports can run programs on its
machines. No file of ours is ever unpickled.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from random import randrange
from socket import gethostname
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from indexing.documents import Document, Hit
from indexing.errors import CorpusNotFound, InvalidRequest, MissingDependency, ShardLost
from indexing.filter import Filter
from rag_app.corpus.cluster.address import actor_name
from rag_app.corpus.cluster.connection import NAMESPACE, connect, require_share
from rag_app.corpus.segments import INDEX, SUFFIX
from rag_app.corpus.shards.lost_replicas import Call, LostReplicas, Replica
from rag_app.corpus.shards.manifest import (
    MissingShards,
    ShardManifest,
    ShardState,
    folder_of,
    shard_of,
)
from rag_app.corpus.shards.shards import PinnedShard, Shards
from retriever.features import Embed, by_sentence
from retriever.fusion import Ranking
from retriever.query import Query
from retriever.retriever import Retriever
from retriever.rounds.rounds import Rounds, Share

FloatArray = npt.NDArray[np.float32]

Answered = TypeVar("Answered")

MOST_RUNS = 256  # questions in an actor; one that its asker has left is dropped for the 257th
LOADING = 600.0  # seconds for an actor to start, and to copy and load its shard
WAIT = 60.0  # seconds for an actor to answer, or to be started again elsewhere
SHORT_WAIT = 15.0  # the same where a question is answered without it
PAUSE = 0.5  # seconds between two attempts


@dataclass(frozen=True, slots=True)
class ShardQuestion:
    """A question as a shard is asked it.

    Attributes:
        query: Text and sentences.
        vectors: (q, d) of the whole and, where the ranking wants them, of the sentences.
        k: Documents at most.
        passages: Passages of each at most.
        where: Limits, but for collections.
        scope: Rows of the collections that are searched; None for all.
        ranking: Which features count.
    """

    query: Query
    vectors: FloatArray
    k: int
    passages: int
    where: Filter | None
    scope: tuple[int, ...] | None
    ranking: Ranking


class ShardServer:
    """What an actor does: rounds of questions over one shard, in one thread.

    Args:
        corpus: The folder of the corpus.
        device: Where vectors are compared, as torch calls it; "" for the CPU.
    """

    def __init__(self, corpus: Path, device: str = "") -> None:
        self._published = Shards(corpus).folder
        self._disk = TemporaryDirectory(prefix="rag-app-shard-")
        self._shards = Shards(Path(self._disk.name), device=device)
        self._runs: dict[str, tuple[Rounds[dict[int, Hit]], ExitStack]] = {}
        self._recent: dict[ShardState, None] = {}

    def begin(
        self, run: str, state: ShardState, question: ShardQuestion
    ) -> Share[Any] | dict[int, Hit] | None:
        """The first share of a question; or its hits by rank, where no round is needed."""
        while len(self._runs) >= MOST_RUNS:
            self._end(next(iter(self._runs)))
        stack = ExitStack()
        shard = self._pin(state, stack)
        retriever = Retriever(
            shard.store.within(question.scope),
            shard.snapshot,
            lambda _: question.vectors,
            question.ranking,
        )
        rounds = retriever.hits(
            question.query, k=question.k, passages=question.passages, where=question.where
        )
        self._runs[run] = rounds, stack
        return self.proceed(run, None)

    def proceed(self, run: str, whole: object) -> Share[Any] | dict[int, Hit] | None:
        """The share of the next round, or the hits by rank after the last one.

        None where the question was begun before this actor was started again.
        """
        if run not in self._runs:
            return None
        rounds, _ = self._runs[run]
        try:
            return rounds.send(whole)
        except StopIteration as stop:
            self._end(run)
            hits: dict[int, Hit] = stop.value
            return hits
        except BaseException:
            self._end(run)
            raise

    def document(self, state: ShardState, id_: str, scope: tuple[int, ...] | None) -> Document:
        """A document as it was published."""
        with ExitStack() as stack:
            return self._pin(state, stack).store.within(scope).document(id_)

    def load(self, state: ShardState) -> int:
        """Load a state before it is asked; the number of the process."""
        with ExitStack() as stack:
            self._pin(state, stack)
        return os.getpid()

    def _pin(self, state: ShardState, stack: ExitStack) -> PinnedShard:
        if state not in self._recent:
            self._fetch(state)
        shard = self._shards.pin(state, stack)
        self._recent.pop(state, None)
        self._recent[state] = None
        for old in list(self._recent)[:-2]:  # which a question may have pinned
            del self._recent[old]
            shutil.rmtree(self._shards.folder / folder_of(old), ignore_errors=True)
        self._shards.forget_others(self._recent)
        return shard

    def _fetch(self, state: ShardState) -> None:
        """Copy a state to a disk of this machine: SQLite's log cannot be shared over a network.

        What is beside the database belongs to whoever has it open; a state is never written to.
        """
        source, target = (one / folder_of(state) for one in (self._published, self._shards.folder))
        shutil.rmtree(target, ignore_errors=True)
        here = {one.name: one for one in self._shards.folder.glob(f"*/*/{INDEX}/*{SUFFIX}")}

        def copy(path: str, to: str) -> object:
            """Segments that are here already do not travel again."""
            if (known := here.get(Path(path).name)) is None:
                return shutil.copy2(path, to)
            os.link(known, to)
            return to

        try:
            beside = shutil.ignore_patterns("*-wal", "*-shm")
            shutil.copytree(source, target, ignore=beside, copy_function=copy)
        except OSError as error:
            raise CorpusNotFound(
                f"{source}: cannot be copied to {target} on {gethostname()} "
                f"({error.strerror or 'not whole'}); the corpus's folder has to be there under the "
                "same path on every machine of the cluster, and room for its shards"
            ) from error

    def _end(self, run: str) -> None:
        rounds, stack = self._runs.pop(run)
        rounds.close()
        stack.close()


class _Unanswered(Exception):
    """Shards of which a replica did not answer.

    Args:
        reasons: What was seen of each, by name.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(", ".join(reasons))
        self.reasons = reasons

    def error(self) -> ShardLost:
        """What to say of it."""
        return ShardLost(*next(iter(self.reasons.items())))


@dataclass(frozen=True)
class _Turns:
    """Which replica of each shard is asked next.

    Attributes:
        orders: Of the replicas of each shard, by its name.
        tries: How often one of them was lost.
    """

    orders: Mapping[str, Sequence[int]]
    tries: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, shards: Iterable[str], replicas: int, away: frozenset[Replica]) -> _Turns:
        """In turn from any one on, those that are away last."""
        first = randrange(replicas)  # noqa: S311 - all are to have their share
        numbers = [(first + n) % replicas for n in range(replicas)]

        def order(shard: str) -> list[int]:
            return sorted(numbers, key=lambda number: Replica(shard, number) in away)

        return cls({shard: order(shard) for shard in shards})

    def replica(self, shard: str) -> Replica:
        """The one of a shard whose turn it is."""
        order = self.orders[shard]
        return Replica(shard, order[self.tries[shard] % len(order)])

    def were_all_lost(self, shard: str) -> bool:
        """Whether each replica of a shard has had its turn."""
        return self.tries[shard] >= len(self.orders[shard])


@dataclass(frozen=True)
class RemoteShards:
    """All shards of one publication, on a Ray cluster.

    Attributes:
        corpus: The folder of the corpus.
        manifest: What is published, and where it is searched.
        scope: Rows of the collections that are searched; None for all.
        missing: Whether a search fails, or leaves out, shards of which no replica answers.
        away: Replicas that did not answer earlier questions.
        lost: Names of shards that were left out.
    """

    corpus: Path
    manifest: ShardManifest
    scope: tuple[int, ...] | None = None
    missing: MissingShards = "fail"
    away: LostReplicas = field(default_factory=LostReplicas)
    lost: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Of all shards."""
        return [one.name for one in self.manifest.shards]

    def search(  # noqa: PLR0913 - by keyword
        self,
        query: str,
        *,
        k: int,
        passages: int,
        where: Filter | None,
        embed: Embed,
        ranking: Ranking,
    ) -> list[Hit]:
        """As `PinnedShards.search`.

        Raises:
            ShardLost: No replica of a shard answers, and none is to be left out, or all are lost.
        """
        if k < 1 or passages < 1:
            raise InvalidRequest("ask for at least one document and one passage")
        parsed = Query.of(query)
        states = [one for one in self.manifest.shards if one.documents]
        if not states:
            return []
        limits = where and replace(where, collections=(), person=None)
        question = ShardQuestion(
            parsed,
            embed(parsed.texts(by_sentence=by_sentence(ranking.documents))),
            k,
            passages,
            limits,
            self.scope,
            ranking,
        )
        if self.missing == "answer":
            self.lost.extend(self._lost_before(states))
        while True:
            here = [one for one in states if one.name not in self.lost]
            try:
                ranked = self._with_replicas(partial(self._ask, here, question))
            except _Unanswered as unanswered:
                if self.missing == "fail" or len(unanswered.reasons) == len(here):
                    raise unanswered.error() from unanswered
                self.lost.extend(unanswered.reasons)
            else:
                return [ranked[rank] for rank in sorted(ranked)]

    def document(self, id_: str) -> Document:
        """A document as it was published.

        Raises:
            DocumentNotFound: Its shard does not have it.
            ShardLost: No replica of its shard answers.
        """
        name = shard_of(id_, self.names)
        state = self._state(name)

        def ask(turns: _Turns) -> Document:
            actor = self._actor(turns.replica(name))
            calls = [actor.document.remote(state, id_, self.scope)]
            (document,) = _results([state], calls, wait=self._wait)
            assert isinstance(document, Document)
            return document

        try:
            return self._with_replicas(ask)
        except _Unanswered as unanswered:
            raise unanswered.error() from unanswered

    def _lost_before(self, states: Sequence[ShardState]) -> list[str]:
        """Shards of which every replica is known to be away; none if that were all shards."""
        away, replicas = self.away.current(), range(self.manifest.replicas)
        lost = [
            one.name for one in states if all(Replica(one.name, each) in away for each in replicas)
        ]
        return lost if len(lost) < len(states) else []

    def _ask(
        self, states: Sequence[ShardState], question: ShardQuestion, turns: _Turns
    ) -> dict[int, Hit]:
        """One question over one replica of each shard, round by round."""
        run = uuid4().hex
        replicas = [turns.replica(one.name) for one in states]
        actors = [self._actor(one) for one in replicas]
        pairs = zip(actors, states, strict=True)
        calls = [one.begin.remote(run, state, question) for one, state in pairs]
        shares = _results(states, calls, wait=self._wait)
        while isinstance(shares[0], Share):
            whole = shares[0].merge(shares[1:])
            calls = [one.proceed.remote(run, whole) for one in actors]
            shares = _results(states, calls, wait=self._wait)
        for one in replicas:
            self.away.remove(one)
        return {rank: hit for hits in shares for rank, hit in hits.items()}

    @property
    def _wait(self) -> float:
        """Seconds for an answer, and for a lost actor to come back."""
        return WAIT if self.missing == "fail" else SHORT_WAIT

    def _with_replicas(self, ask: Callable[[_Turns], Answered]) -> Answered:
        """Ask; where shards are lost, again over their next replicas.

        When all of one are, wait a little: Ray starts lost actors again, if there is a machine for
        them.

        Raises:
            _Unanswered: None came back in time; the shards of which none did.
        """
        turns = _Turns.of(self.names, self.manifest.replicas, self.away.current())
        start = time.monotonic()
        while True:
            try:
                return ask(turns)
            except _Unanswered as unanswered:
                for shard in unanswered.reasons:
                    replica = turns.replica(shard)
                    self.away.add(replica, partial(self._call, replica))
                    turns.tries[shard] += 1
                lost = {s: why for s, why in unanswered.reasons.items() if turns.were_all_lost(s)}
                if lost:
                    if time.monotonic() - start >= self._wait:
                        raise _Unanswered(lost) from unanswered
                    time.sleep(PAUSE)

    def _call(self, replica: Replica) -> Call:
        """Call a lost replica, which may take however long it takes; what says whether it came."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        call = self._actor(replica).load.remote(self._state(replica.shard))

        def answered() -> bool | None:
            if not ray.wait([call], timeout=0)[0]:
                return None
            try:
                ray.get(call)
            except RayTaskError:  # it is there: whoever asks it is told what is wrong
                return True
            except RayError:
                _actor.cache_clear()
                return False
            return True

        return answered

    def _state(self, name: str) -> ShardState:
        return next(one for one in self.manifest.shards if one.name == name)

    def _actor(self, replica: Replica) -> Any:  # noqa: ANN401 - Ray's own
        return _actor(self.corpus, _Cluster.of(self.manifest), replica)


@dataclass(frozen=True, slots=True)
class _Cluster:
    """Where actors are, as long as a corpus is not divided again."""

    address: str
    name: str
    gpus: float

    @classmethod
    def of(cls, manifest: ShardManifest) -> _Cluster:
        return cls(manifest.ray, manifest.name, manifest.gpus)


@cache
def _actor(corpus: Path, cluster: _Cluster, replica: Replica) -> Any:  # noqa: ANN401 - Ray's own
    """The actor of a replica, which is started where there is none."""
    return (
        connect(cluster.address)
        .remote(ShardServer)
        .options(
            name=actor_name(cluster.name, corpus, replica.shard, replica.number),
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            num_cpus=0,
            num_gpus=cluster.gpus,
            scheduling_strategy="SPREAD",
        )
        .remote(corpus, "cuda" if cluster.gpus else "")
    )


def require_gpus(ray: Any, gpus: float, actors: int) -> None:  # noqa: ANN401 - Ray's own
    """Refuse GPUs that the machines of a cluster do not have.

    Args:
        ray: Connected to it.
        gpus: Of each actor.
        actors: How many there are to be.

    Raises:
        InvalidRequest: There are not enough, or actors cannot have so many each.
    """
    require_share(gpus)
    if not gpus:
        return
    has = [node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]]
    room = sum(int(each / gpus) for each in has)
    if room < actors:
        raise InvalidRequest(
            f"the machines of the cluster have {sum(has):g} GPUs, room for {room} processes with "
            f"{gpus:g} each, and shards and replicas make {actors}; give each a part of one, such "
            "as 0.25, or let more machines with GPUs join"
        )


def start(corpus: Path, manifest: ShardManifest) -> None:
    """Start all actors of a corpus, each with its shard loaded.

    Raises:
        CorpusError: A machine has no GPU in spite of what Ray was told.
        CorpusNotFound: The corpus's folder is not on a machine of the cluster.
        ShardLost: An actor does not start.
    """
    numbers, cluster = range(manifest.replicas), _Cluster.of(manifest)
    pairs = [(state, Replica(state.name, n)) for state in manifest.shards for n in numbers]
    calls = [_actor(corpus, cluster, replica).load.remote(state) for state, replica in pairs]
    try:
        _results([state for state, _ in pairs], calls, wait=LOADING)
    except _Unanswered as unanswered:
        raise unanswered.error() from unanswered


def release(corpus: Path, manifest: ShardManifest) -> None:
    """End the actors of a corpus, as far as their cluster is there."""
    try:
        ray = connect(manifest.ray)
    except (InvalidRequest, MissingDependency):
        return
    for state in manifest.shards:
        for replica in range(manifest.replicas):
            with suppress(ValueError):  # there is none of that name
                name = actor_name(manifest.name, corpus, state.name, replica)
                ray.kill(ray.get_actor(name, namespace=NAMESPACE))
    _actor.cache_clear()


def _results(states: Sequence[ShardState], calls: Sequence[Any], *, wait: float) -> list[Any]:
    """What the shards answer, all at once.

    Raises:
        _Unanswered: Some of them do not answer.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    results, reasons = [], dict[str, str]()
    ready = {*ray.wait(list(calls), num_returns=len(calls), timeout=wait)[0]}
    for state, call in zip(states, calls, strict=True):
        if call not in ready:
            reasons[state.name] = f"nothing was heard of it in {wait:.0f} s"
            continue
        try:
            result = ray.get(call)
        except RayTaskError as error:  # an error of ours, with Ray's traceback around it
            raise error.cause from error
        except RayError as error:
            reasons[state.name] = type(error).__name__
            continue
        if result is None:
            reasons[state.name] = "it was started again in the midst of a question"
        results.append(result)
    if reasons:
        _actor.cache_clear()  # who ended them may have started others
        raise _Unanswered(reasons)
    return results
