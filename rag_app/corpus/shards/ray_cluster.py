"""Shards on the machines of a Ray cluster, asked in parallel: one replica of each.

A question goes in rounds (`retriever.rounds`); if a replica is lost in the midst of it, it is asked
again over others. Nothing but reading is ever done twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import randrange
from typing import Any, TypeVar
from uuid import uuid4

from indexing.documents import Document, Hit
from rag_app.corpus.shards.actors import Cluster, Unanswered, actor_of, answers_of
from rag_app.corpus.shards.lost_replicas import Call, LostReplicas, Replica
from rag_app.corpus.shards.manifest import MissingShards, ShardManifest, ShardState, shard_of
from rag_app.corpus.shards.parts import SearchRequest, ranking_named
from rag_app.corpus.shards.shard_server import ShardQuestion
from retriever.features import Embed, by_sentence
from retriever.query import Query
from retriever.rounds.rounds import Share

Answered = TypeVar("Answered")

WAIT = 60.0  # seconds for an actor to answer, or to be started again elsewhere
SHORT_WAIT = 15.0  # the same where a question is answered without it
PAUSE = 0.5  # seconds between two attempts


@dataclass(frozen=True)
class _Turns:
    """Which replica of each shard is asked next."""

    orders: Mapping[str, Sequence[int]]  # of the replicas of each shard, by its name
    tries: Counter[str] = field(default_factory=Counter)  # how often one of them was lost

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
    """All shards of one publication, on a Ray cluster."""

    corpus: Path  # the folder of the corpus
    manifest: ShardManifest  # what is published, and where it is searched
    scope: tuple[int, ...] | None = None  # rows of the collections that are searched; None for all
    # whether a search fails, or leaves out, shards of which no replica answers
    missing: MissingShards = "fail"
    # replicas that did not answer earlier questions
    away: LostReplicas = field(default_factory=LostReplicas)
    lost: list[str] = field(default_factory=list)  # names of shards that were left out

    @property
    def names(self) -> list[str]:
        """Of all shards."""
        return [one.name for one in self.manifest.shards]

    def search(self, request: SearchRequest, embed: Embed) -> list[Hit]:
        """As `CorpusParts.search`.

        Raises:
            ShardLost: No replica of a shard answers, and none is to be left out, or all are lost.
        """
        parsed, ranking = Query.of(request.query), ranking_named(request.ranking)
        states = [one for one in self.manifest.shards if one.documents]
        if not states:
            return []
        question = ShardQuestion(
            parsed,
            embed(parsed.texts(by_sentence=by_sentence(ranking.documents))),
            request.k,
            request.passages,
            replace(request.where, collections=()),
            self.scope,
            ranking,
        )
        if self.missing == "answer":
            self.lost.extend(self._lost_before(states))
        while True:
            here = [one for one in states if one.name not in self.lost]
            try:
                ranked = self._with_replicas(partial(self._ask, here, question))
            except Unanswered as unanswered:
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
            (document,) = answers_of([state], calls, wait=self._wait)
            assert isinstance(document, Document)
            return document

        try:
            return self._with_replicas(ask)
        except Unanswered as unanswered:
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
        shares = answers_of(states, calls, wait=self._wait)
        while isinstance(shares[0], Share):
            whole = shares[0].merge(shares[1:])
            calls = [one.proceed.remote(run, whole) for one in actors]
            shares = answers_of(states, calls, wait=self._wait)
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
            Unanswered: None came back in time; the shards of which none did.
        """
        turns = _Turns.of(self.names, self.manifest.replicas, self.away.current())
        start = time.monotonic()
        while True:
            try:
                return ask(turns)
            except Unanswered as unanswered:
                for shard in unanswered.reasons:
                    replica = turns.replica(shard)
                    self.away.add(replica, partial(self._call, replica))
                    turns.tries[shard] += 1
                lost = {s: why for s, why in unanswered.reasons.items() if turns.were_all_lost(s)}
                if lost:
                    if time.monotonic() - start >= self._wait:
                        raise Unanswered(lost) from unanswered
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
                actor_of.cache_clear()
                return False
            return True

        return answered

    def _state(self, name: str) -> ShardState:
        return next(one for one in self.manifest.shards if one.name == name)

    def _actor(self, replica: Replica) -> Any:  # noqa: ANN401 - Ray's own
        return actor_of(self.corpus, Cluster.of(self.manifest), replica)
