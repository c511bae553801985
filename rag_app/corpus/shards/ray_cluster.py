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
from collections.abc import Callable, Sequence
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
from rag_app.corpus.cluster.connection import NAMESPACE, connect
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
    """

    def __init__(self, corpus: Path) -> None:
        self._published = Shards(corpus).folder
        self._disk = TemporaryDirectory(prefix="rag-app-shard-")
        self._shards = Shards(Path(self._disk.name))
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
        try:
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
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


@dataclass(frozen=True)
class RemoteShards:
    """All shards of one publication, on a Ray cluster.

    Attributes:
        corpus: The folder of the corpus.
        manifest: What is published, and where it is searched.
        scope: Rows of the collections that are searched; None for all.
        missing: Whether a search fails, or leaves out, shards of which no replica answers.
        lost: Names of those that were left out.
    """

    corpus: Path
    manifest: ShardManifest
    scope: tuple[int, ...] | None = None
    missing: MissingShards = "fail"
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
        sentences = parsed.sentences if by_sentence(ranking.documents) else ()
        limits = where and replace(where, collections=(), person=None)
        question = ShardQuestion(
            parsed,
            embed((parsed.text, *sentences)),
            k,
            passages,
            limits,
            self.scope,
            ranking,
        )
        while True:
            here = [one for one in states if one.name not in self.lost]
            try:
                ranked = self._with_replicas(partial(self._ask, here, question))
            except ShardLost as error:
                if self.missing == "fail" or len(here) == 1:
                    raise
                self.lost.append(error.shard)
            else:
                return [ranked[rank] for rank in sorted(ranked)]

    def document(self, id_: str) -> Document:
        """A document as it was published.

        Raises:
            DocumentNotFound: Its shard does not have it.
            ShardLost: No replica of its shard answers.
        """
        name = shard_of(id_, self.names)
        state = next(one for one in self.manifest.shards if one.name == name)

        def ask(turns: Counter[str]) -> Document:
            actor = self._actor(state, turns)
            calls = [actor.document.remote(state, id_, self.scope)]
            (document,) = _results([state], calls, wait=self._wait)
            assert isinstance(document, Document)
            return document

        return self._with_replicas(ask)

    def _ask(
        self, states: Sequence[ShardState], question: ShardQuestion, turns: Counter[str]
    ) -> dict[int, Hit]:
        """One question over one replica of each shard, round by round."""
        run = uuid4().hex
        actors = [self._actor(state, turns) for state in states]
        pairs = zip(actors, states, strict=True)
        calls = [one.begin.remote(run, state, question) for one, state in pairs]
        shares = _results(states, calls, wait=self._wait)
        while isinstance(shares[0], Share):
            whole = shares[0].merge(shares[1:])
            calls = [one.proceed.remote(run, whole) for one in actors]
            shares = _results(states, calls, wait=self._wait)
        return {rank: hit for hits in shares for rank, hit in hits.items()}

    @property
    def _wait(self) -> float:
        """Seconds for an answer, and for a lost actor to come back."""
        return WAIT if self.missing == "fail" else SHORT_WAIT

    def _with_replicas(self, ask: Callable[[Counter[str]], Answered]) -> Answered:
        """Ask; where a shard is lost, again over its next replica.

        When all are, wait a little: Ray starts lost actors again, if there is a machine for them.
        """
        first = randrange(self.manifest.replicas)  # noqa: S311 - all are to have their share
        turns = Counter(dict.fromkeys((one.name for one in self.manifest.shards), first))
        begun = time.monotonic()
        while True:
            try:
                return ask(turns)
            except ShardLost as lost:
                turns[lost.shard] += 1
                if turns[lost.shard] >= first + self.manifest.replicas:
                    if time.monotonic() - begun >= self._wait:
                        raise
                    time.sleep(PAUSE)

    def _actor(self, state: ShardState, turns: Counter[str]) -> Any:  # noqa: ANN401 - Ray's own
        replica = turns[state.name] % self.manifest.replicas
        return _actor(self.manifest.ray, self.manifest.name, self.corpus, state.name, replica)


@cache
def _actor(address: str, name: str, corpus: Path, shard: str, replica: int) -> Any:  # noqa: ANN401 - Ray's own
    """The actor of a replica, which is started where there is none."""
    return (
        connect(address)
        .remote(ShardServer)
        .options(
            name=actor_name(name, corpus, shard, replica),
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            num_cpus=0,
            scheduling_strategy="SPREAD",
        )
        .remote(corpus)
    )


def start(corpus: Path, manifest: ShardManifest) -> None:
    """Start all actors of a corpus, each with its shard loaded.

    Raises:
        CorpusNotFound: The corpus's folder is not on a machine of the cluster.
        ShardLost: An actor does not start.
    """
    replicas = range(manifest.replicas)
    pairs = [(state, replica) for state in manifest.shards for replica in replicas]
    calls = [
        _actor(manifest.ray, manifest.name, corpus, state.name, replica).load.remote(state)
        for state, replica in pairs
    ]
    _results([state for state, _ in pairs], calls, wait=LOADING)


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
        ShardLost: One of them does not answer; the message begins with its name.
    """
    import ray
    from ray.exceptions import GetTimeoutError, RayActorError, RaySystemError, RayTaskError

    results = []
    for state, call in zip(states, calls, strict=True):
        try:
            result = ray.get(call, timeout=wait)
        except RayTaskError as error:  # an error of ours, with Ray's traceback around it
            raise error.cause from error
        except (RayActorError, RaySystemError, GetTimeoutError) as error:
            _actor.cache_clear()  # who ended it may have started another
            raise ShardLost(state.name, type(error).__name__) from error
        if result is None:
            raise ShardLost(state.name, "it was started again in the midst of a question")
        results.append(result)
    return results
