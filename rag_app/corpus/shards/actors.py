"""The actors of a corpus on a Ray cluster: started, asked, ended; one for each replica of a shard.

Ray schedules, starts and restarts them and carries the messages. What Ray sends between its own
processes it pickles: who can reach its ports can run programs on its machines. No file of ours is
ever unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from indexing.errors import InvalidRequest, MissingDependency, ShardLost
from rag_app.corpus.cluster.address import actor_name
from rag_app.corpus.cluster.connection import NAMESPACE, connect, require_share
from rag_app.corpus.shards.lost_replicas import Replica
from rag_app.corpus.shards.manifest import ShardManifest, ShardState
from rag_app.corpus.shards.shard_server import ShardServer

LOADING = 600.0  # seconds for an actor to start, and to copy and load its shard


class Unanswered(Exception):
    """Shards of which a replica did not answer."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(", ".join(reasons))
        self.reasons = reasons

    def error(self) -> ShardLost:
        """What to say of it."""
        return ShardLost(*next(iter(self.reasons.items())))


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where actors are, as long as a corpus is not divided again."""

    address: str
    name: str
    gpus: float

    @classmethod
    def of(cls, manifest: ShardManifest) -> Cluster:
        """The one that a manifest names."""
        return cls(manifest.ray, manifest.name, manifest.gpus)


@cache
def actor_of(corpus: Path, cluster: Cluster, replica: Replica) -> Any:  # noqa: ANN401 - Ray's own
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
    numbers, cluster = range(manifest.replicas), Cluster.of(manifest)
    pairs = [(state, Replica(state.name, n)) for state in manifest.shards for n in numbers]
    calls = [actor_of(corpus, cluster, replica).load.remote(state) for state, replica in pairs]
    try:
        answers_of([state for state, _ in pairs], calls, wait=LOADING)
    except Unanswered as unanswered:
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
    actor_of.cache_clear()


def answers_of(states: Sequence[ShardState], calls: Sequence[Any], *, wait: float) -> list[Any]:
    """What the shards answer, all at once.

    Raises:
        Unanswered: Some of them do not answer.
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
        actor_of.cache_clear()  # who ended them may have started others
        raise Unanswered(reasons)
    return results
