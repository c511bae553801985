"""Shards on a Ray cluster of a head and three nodes on this machine, which are killed."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from generator.answer import CONVERSATION, AnswerReady, ContextEntry
from generator.answer_json import as_json
from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import (
    CorpusError,
    CorpusNotFound,
    DocumentNotFound,
    InvalidRequest,
    ShardLost,
)
from indexing.filter import Filter
from indexing.store.repair.verification import verify
from indexing.store.store import Store
from rag_app.chat.web.mcp import tools as mcp_tools
from rag_app.cli.main import main
from rag_app.corpus.cluster.address import actor_name
from rag_app.corpus.cluster.connection import NAMESPACE, connect
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.models import Models
from rag_app.corpus.shards import ray_cluster
from rag_app.corpus.shards.actors import Unanswered, require_gpus
from rag_app.corpus.shards.lost_replicas import Call, Replica
from rag_app.corpus.shards.manifest import ShardState, folder_of, shard_of
from rag_app.corpus.shards.missing import PartialHits
from rag_app.corpus.shards.ray_cluster import RemoteShards
from rag_app.corpus.shards.shard_server import ShardQuestion, ShardServer
from retriever.fusion import RANKINGS
from retriever.query import Query
from retriever.rounds.rounds import Share
from tests.ray_machines import NODE, machines
from tests.waiting import PATIENCE, wait_until

KILLS = 20
PUBLISHER = """
import sys
from rag_app.corpus.corpus import Corpus
with Corpus(sys.argv[1]) as corpus:
    while True:
        for name in ("Anabel", "Ana"):
            corpus.speakers.rename("Ana", name)
            print(name, flush=True)
"""
QUESTION = "Where did the probe fall?"
FILTERS = (None, Filter(speaker="Ana"), Filter(collections=("second",)))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with machines() as cluster:
        yield cluster


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for n in range(12):
            text = f"Ana: The probe {n} fell into the lake.\nBob: It cost {n * 7} euros.\n" * (
                n + 1
            )
            corpus.add_text(text, name=f"talk-{n}")
        corpus.collections.create("second")
        corpus.collections.add("second", ["talk-3", "talk-4", "talk-5"])
        yield corpus


def hits(corpus: Corpus) -> list[list[Hit]]:
    return [corpus.search(QUESTION, k=8, where=where) for where in FILTERS]


def actors(corpus: Corpus) -> list[Any]:
    ray, manifest = connect(""), corpus.shards
    assert manifest is not None
    return [
        ray.get_actor(
            actor_name(manifest.name, corpus.folder, one.name, replica), namespace=NAMESPACE
        )
        for one in manifest.shards
        for replica in range(manifest.replicas)
    ]


def test_what_actors_are_sent_and_answer_survives_the_way(corpus: Corpus, encoder: Encoder) -> None:
    """Rounds as Ray carries them, pickled, without a cluster; a lost actor knows nothing more."""
    text = "Where did the probe fall? How much did it cost?"
    wanted, manifest = corpus.search(text, k=8), corpus.divide(3)
    query = Query.of(text)
    vectors = encoder.encode_queries((query.text, *query.sentences))
    question = ShardQuestion(query, vectors, 8, 3, None, None, RANKINGS["default"])
    servers = [ShardServer(corpus.folder) for _ in manifest.shards]
    shares = [
        server.begin("run", state, pickle.loads(pickle.dumps(question)))
        for server, state in zip(servers, manifest.shards, strict=True)
    ]
    while isinstance(shares[0], Share):
        first, *others = pickle.loads(pickle.dumps(shares))
        whole = pickle.dumps(first.merge(others))
        shares = [server.proceed("run", pickle.loads(whole)) for server in servers]
    ranked = {rank: hit for hits in shares for rank, hit in hits.items()}  # type: ignore[union-attr]
    assert [ranked[rank] for rank in sorted(ranked)] == wanted
    assert servers[0].proceed("run", None) is None
    shard = shard_of(wanted[0].document, [one.name for one in manifest.shards])
    own = servers[int(shard)].document(manifest.shards[int(shard)], wanted[0].document, None)
    assert own == corpus.document(wanted[0].document)
    with pytest.raises(CorpusNotFound, match="same path on every machine"):
        ShardServer(corpus.folder / "elsewhere").document(manifest.shards[0], "a", None)


def test_after_a_change_only_what_changed_travels(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of the database and new segments; what a machine has then is what was published."""
    (first,) = corpus.divide(1).shards
    server, copied = ShardServer(corpus.folder), list[str]()
    server.load(first)
    copy = shutil.copy2

    def copy2(path: str, to: str) -> object:
        if Path(to).is_relative_to(server._shards.folder):
            copied.append(Path(path).name)
        return copy(path, to)

    monkeypatch.setattr(shutil, "copy2", copy2)
    for change in range(4):
        corpus.add_text("Ana: The kite flew.", name="kite") if not change else None
        corpus.remove(["talk-3"]) if change == 1 else None
        corpus.speakers.rename("Bob", "Bert") if change == 2 else None
        corpus.optimize() if change == 3 else None
        assert corpus.shards is not None
        (state,) = corpus.shards.shards
        server.load(state)
        published, here = (
            one / folder_of(state) / "corpus.sqlite"
            for one in (server._published, server._shards.folder)
        )
        assert here.read_bytes() == published.read_bytes()
        with closing(Store(here.parent)) as store:
            assert verify(store.database) == []
    assert 0 < len(copied) <= 4 and all(name.endswith(".segment") for name in copied)


@dataclass
class LocalActors:
    """What Ray does for a question, in this process: actors, some of which do not answer.

    Attributes:
        device: Where their vectors are compared.
        silent: Whether a call of a method of a replica is not answered.
        waited: For which of them somebody waited, and how often.
    """

    device: str = ""
    silent: Callable[[Replica, str], bool] = lambda replica, method: False
    waited: Counter[Replica] = field(default_factory=Counter)
    _servers: dict[Replica, ShardServer] = field(default_factory=dict)

    def actor(self, corpus: Path, cluster: object, replica: Replica) -> Any:
        server = self._servers.setdefault(replica, ShardServer(corpus, self.device))

        def method(name: str) -> SimpleNamespace:
            run = getattr(server, name)
            return SimpleNamespace(remote=lambda *given: (replica, name, partial(run, *given)))

        return SimpleNamespace(**{each: method(each) for each in ("begin", "proceed", "document")})

    def results(self, states: Sequence[ShardState], calls: Sequence[Any], *, wait: float) -> Any:
        lost = [replica for replica, method, _ in calls if self.silent(replica, method)]
        self.waited.update(lost)
        if lost:
            raise Unanswered({each.shard: "no answer" for each in lost})
        return [call() for *_, call in calls]

    def call(self, replica: Replica) -> Call:
        return lambda: None if self.silent(replica, "load") else True


def on_local_actors(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, *, replicas: int = 1
) -> LocalActors:
    """Divide a corpus among three shards as on a cluster, which nobody waits for."""
    manifest = replace(corpus.divide(3), ray="nowhere:1", replicas=replicas, name="local")
    manifest.write(corpus.folder / ".shards")
    actors = LocalActors()
    monkeypatch.setattr(ray_cluster, "actor_of", actors.actor)
    monkeypatch.setattr(ray_cluster, "answers_of", actors.results)
    monkeypatch.setattr(RemoteShards, "_call", actors.call)
    for name in ("WAIT", "SHORT_WAIT", "PAUSE"):
        monkeypatch.setattr(ray_cluster, name, 0.0)
    return actors


def test_a_lost_shard_is_waited_for_once(
    corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = corpus.search(QUESTION, k=8)
    actors = on_local_actors(corpus, monkeypatch)
    with Corpus(corpus.folder, encoder=encoder, missing_shards="answer") as other:
        assert other.partial_search(QUESTION, k=8) == PartialHits(wanted)
        actors.silent = lambda replica, method: replica.shard == "1"
        for _ in range(3):
            found = other.partial_search(QUESTION, k=12)
            (line,) = found.missing
            assert line.title.startswith("shard 1 is lost; documents not looked at: ")
            assert found.hits
            assert "1" not in {shard_of(hit.document, ["0", "1", "2"]) for hit in found.hits}
        assert actors.waited == {Replica("1", 0): 1}
        assert other.ask(QUESTION).context[-1] == line
        with pytest.raises(ShardLost, match="shard 1"):
            other.search(QUESTION)
        actors.silent = lambda replica, method: True
        with pytest.raises(ShardLost):  # nobody is left to answer
            other.partial_search(QUESTION)
        actors.silent = lambda replica, method: False
        assert other.partial_search(QUESTION, k=8) == PartialHits(wanted)
        assert other.search(QUESTION, k=8) == wanted

        lost = shard_of(wanted[0].document, ["0", "1", "2"])  # after its hits, before their texts
        actors.silent = lambda replica, method: (
            replica.shard == lost and method in {"document", "load"}
        )
        line = other.ask(QUESTION).context[-1]
        assert line.was_lost and line.title.startswith(f"shard {lost} is lost")


def test_a_replica_that_hangs_is_waited_for_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = corpus.search(QUESTION, k=8)
    actors = on_local_actors(corpus, monkeypatch, replicas=2)
    actors.silent = lambda replica, method: replica == Replica("1", 0)
    for _ in range(12):  # any of which may begin with it
        assert corpus.search(QUESTION, k=8) == wanted
    assert actors.waited[Replica("1", 0)] <= 1


def test_on_a_gpu_vectors_are_compared_by_torch(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CPU stands for the GPU; a machine without one refuses, and so does a cluster."""
    wanted = hits(corpus)
    actors = on_local_actors(corpus, monkeypatch)
    actors.device = "cpu"
    for found, whole in zip(hits(corpus), wanted, strict=True):
        assert [hit.document for hit in found] == [hit.document for hit in whole]
        one, other = (np.array([hit.score for hit in each]) for each in (found, whole))
        np.testing.assert_allclose(one, other, atol=1e-4)
    if not torch.cuda.is_available():
        manifest = corpus.shards
        assert manifest is not None
        with pytest.raises(CorpusError, match="compared on a GPU, and there is none"):
            ShardServer(corpus.folder, "cuda").load(manifest.shards[0])
    with pytest.raises(InvalidRequest, match="on a Ray cluster only"):
        corpus.divide(3, gpus=1)


def test_gpus_that_a_cluster_does_not_have_are_refused() -> None:
    nodes = [
        {"Alive": True, "Resources": {"CPU": 4.0, "GPU": 1.0}},
        {"Alive": True, "Resources": {"CPU": 4.0}},
        {"Alive": False, "Resources": {"GPU": 8.0}},
    ]
    ray = SimpleNamespace(nodes=lambda: nodes)
    for gpus, actors in ((0, 100), (1, 1), (0.25, 4)):
        require_gpus(ray, gpus, actors)
    for gpus, actors in ((1, 2), (0.3, 4), (2, 1)):
        with pytest.raises(InvalidRequest, match=f"{gpus} each, and shards and replicas make"):
            require_gpus(ray, gpus, actors)
    with pytest.raises(InvalidRequest, match="a whole number"):
        require_gpus(ray, 1.5, 1)


def test_a_search_says_which_shard_it_left_out(
    corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    actors = on_local_actors(corpus, monkeypatch)
    actors.silent = lambda replica, method: replica.shard == "1"
    command = ["search", QUESTION, "--corpus", str(corpus.folder)]
    assert "shard 1: no replica" in CliRunner().invoke(main, command).stderr
    command += ["--missing-shards", "answer"]
    said = CliRunner().invoke(main, command).stdout.splitlines()
    *hits, line = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
    assert said[-1] == line["title"] and said[-1].startswith("shard 1 is lost; documents not")
    assert hits and all(hit.keys() == line.keys() and hit["document"] for hit in hits)
    assert (line["document"], line["passages"]) == ("", [])
    with Corpus(corpus.folder, encoder=encoder, missing_shards="answer") as other:
        assert mcp_tools._search(other, QUESTION, {"k": 3}).not_searched == [said[-1]]
        answer = other.ask(QUESTION)
    earlier = replace(answer, context=(*answer.context, ContextEntry("", CONVERSATION, 9, 9, 0)))
    lost = [one for one in as_json(earlier)["context"] if one["title"] == said[-1]]
    assert [one["document"] for one in lost] == [""]


@pytest.mark.slow
def test_a_cluster_finds_what_one_piece_finds(
    cluster: Any, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_encoder(*_: object) -> None:
        raise AssertionError("loaded in this process")

    wanted = hits(corpus)
    answer = corpus.ask("How much did the probe 5 cost?")
    manifest = corpus.divide(3, ray=cluster.address)
    assert manifest.ray == cluster.address
    assert hits(corpus) == wanted
    assert corpus.ask("How much did the probe 5 cost?").text == answer.text
    with pytest.raises(DocumentNotFound, match="nowhere"):
        corpus.search("probe", where=Filter(documents=("nowhere",)))
    corpus.add_text("Cara: The probe lies in the harbour, where it fell.", name="new")
    with corpus.retriever() as retriever:
        whole = retriever.search("Where did the probe fall?", k=8)
    assert hits(corpus)[0] == whole
    assert len(actors(corpus)) == 3

    monkeypatch.setattr(Models, "encoder", no_encoder)  # the workers have one
    monkeypatch.setattr(Models, "prepare", lambda self, stored: None)
    later = tmp_path / "later.txt"
    later.write_text("Cara: The probe fell once more, into the harbour.")
    address = f"ray://{cluster.address}/corpus"
    result = CliRunner().invoke(main, ["index", str(later), "--corpus", address, "--json"])
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["added"]) == 1
    monkeypatch.undo()
    with corpus.retriever() as retriever:
        whole = retriever.search("Where did the probe fall?", k=8)
    assert hits(corpus)[0] == whole
    assert str(later) in {hit.path for hit in corpus.search("Where did the probe fall?", k=20)}
    corpus.unite()
    assert hits(corpus)[0] == whole
    with pytest.raises(ValueError, match="Failed to look up actor"):
        name = actor_name(manifest.name, corpus.folder, "0", 0)
        connect("").get_actor(name, namespace=NAMESPACE)


@pytest.mark.slow
def test_gpus_are_asked_of_ray_before_anything_is_published(cluster: Any, corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="have 0 GPUs, room for 0 processes"):
        corpus.divide(2, ray=cluster.address, gpus=0.5)
    assert corpus.shards is None
    node = cluster.add_node(**NODE, num_gpus=1)  # Ray believes it
    cluster.wait_for_nodes()
    try:
        if not torch.cuda.is_available():
            with pytest.raises(CorpusError, match="compared on a GPU, and there is none"):
                corpus.divide(2, ray=cluster.address, gpus=0.5)
            wait_until(lambda: not connect("").available_resources().get("GPU"))  # both halves
        corpus.unite()
    finally:
        cluster.remove_node(node)


@pytest.mark.slow
def test_killed_actors_cost_no_answer(cluster: Any, corpus: Corpus) -> None:
    import ray

    wanted = hits(corpus)
    manifest = corpus.divide(3, ray=cluster.address, replicas=2)
    assert hits(corpus) == wanted
    draw = Random(14)
    for _ in range(KILLS):
        states = [one for one in manifest.shards for _ in range(2)]
        every = zip(actors(corpus), states, strict=True)
        for one, state in [pair for pair in every if draw.random() < 0.3]:
            try:
                os.kill(ray.get(one.load.remote(state), timeout=PATIENCE), signal.SIGKILL)
            except (ray.exceptions.RayActorError, ProcessLookupError):
                continue  # dead already
        assert hits(corpus) == wanted
    corpus.unite()


@pytest.mark.slow
def test_killed_publishers_leave_all_of_a_change_or_nothing(cluster: Any, corpus: Corpus) -> None:
    """One change of all documents, in all shards, over and over, killed at any moment of it."""
    corpus.divide(3, ray=cluster.address)
    assert hits(corpus)
    draw, generations = Random(7), set[int]()
    for _ in range(KILLS):
        publisher = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, str(corpus.folder)], stdout=subprocess.PIPE
        )
        assert publisher.stdout
        for _ in range(draw.randint(1, 4)):
            assert publisher.stdout.readline()
        time.sleep(draw.random())
        publisher.kill()
        publisher.wait()
        publisher.stdout.close()
        manifest = corpus.shards
        assert manifest is not None
        generations.add(manifest.generation)
        found = corpus.search("Where did the probe fall?", k=8)
        names = {name for hit in found for one in hit.passages for name in one.speakers} - {"Bob"}
        assert len(found) == 8 and names in ({"Ana"}, {"Anabel"})
    assert len(generations) == KILLS
    corpus.speakers.rename("Ana", "Ann")
    with corpus.retriever() as retriever:
        assert hits(corpus)[0] == retriever.search("Where did the probe fall?", k=8)
    assert corpus.info().snapshot == "current"
    corpus.unite()


@pytest.mark.slow
def test_a_lost_node_costs_no_answer_and_a_lost_cluster_names_the_shard(
    cluster: Any, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = hits(corpus)
    corpus.divide(4, ray=cluster.address)
    assert hits(corpus) == wanted
    for node in cluster.list_all_nodes()[-2:]:  # the head comes first
        cluster.remove_node(node, allow_graceful=False)
    assert hits(corpus) == wanted
    monkeypatch.setattr(ray_cluster, "WAIT", 0.0)
    with pytest.raises(ShardLost, match=r"shard \d: no replica of it answers"):
        hits(corpus)
    monkeypatch.undo()
    corpus.unite()


@pytest.mark.slow
def test_a_question_is_answered_without_a_lost_shard_where_that_is_asked_for(
    cluster: Any, corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that hangs; the answer says how many documents of which shard it left out."""
    import ray

    question = "How much did the probe cost?"
    manifest = corpus.divide(3, ray=cluster.address, name="talks")
    names = [one.name for one in manifest.shards]
    lost = [one for one in corpus.documents() if shard_of(one.id, names) == "1"]
    process = ray.get(actors(corpus)[1].load.remote(manifest.shards[1]))
    address = f"ray://{cluster.address}/talks"
    with Corpus(address, missing_shards="answer", encoder=encoder) as other:
        assert other.folder == corpus.folder
        whole = list(other.stream(question))[-1]
        monkeypatch.setattr(ray_cluster, "SHORT_WAIT", 10.0)
        monkeypatch.setattr(ray_cluster, "WAIT", 10.0)
        os.kill(process, signal.SIGSTOP)
        try:
            answer = list(other.stream(question))[-1]
            monkeypatch.setattr(ray_cluster, "SHORT_WAIT", PATIENCE)
            begun = time.monotonic()
            found = other.partial_search(question)
            assert time.monotonic() - begun < PATIENCE  # it is not waited for again
            with pytest.raises(ShardLost, match="shard 1"):
                other.search(question)
        finally:
            os.kill(process, signal.SIGCONT)
        monkeypatch.undo()
        wait_until(lambda: not other.partial_search(question).missing)
        assert isinstance(answer, AnswerReady) and isinstance(whole, AnswerReady)
        (line,) = (entry for entry in answer.answer.context if not entry.document)
        assert line.title == f"shard 1 is lost; documents not looked at: {len(lost)}"
        assert line.dropped == line.tokens == sum(one.tokens for one in lost) > 0
        assert found.missing == (line,)
        read = {one.document for one in answer.answer.context}
        assert len(read) > 1 and not read & {one.id for one in lost}
        again = list(other.stream(question))[-1]
        assert isinstance(again, AnswerReady)
        assert again.answer.context == whole.answer.context
    corpus.unite()
