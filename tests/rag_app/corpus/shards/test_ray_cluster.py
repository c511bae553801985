"""Shards on a Ray cluster of a head and three nodes on this machine, which are killed."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from generator.answer import AnswerReady
from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import CorpusNotFound, DocumentNotFound, ShardLost
from indexing.filter import Filter
from rag_app.cli.main import main
from rag_app.corpus.cluster.address import actor_name
from rag_app.corpus.cluster.connection import NAMESPACE, connect
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.models import Models
from rag_app.corpus.shards import ray_cluster
from rag_app.corpus.shards.manifest import shard_of
from rag_app.corpus.shards.ray_cluster import ShardQuestion, ShardServer
from retriever.fusion import RANKINGS
from retriever.query import Query
from retriever.rounds.rounds import Share
from tests.ray_machines import machines
from tests.waiting import PATIENCE

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
    return [corpus.search("Where did the probe fall?", k=8, where=where) for where in FILTERS]


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
            with pytest.raises(ShardLost, match="shard 1"):
                other.search(question)
        finally:
            os.kill(process, signal.SIGCONT)
        monkeypatch.undo()
        assert isinstance(answer, AnswerReady) and isinstance(whole, AnswerReady)
        (line,) = (entry for entry in answer.answer.context if not entry.document)
        assert line.title == f"shard 1 is lost; documents not looked at: {len(lost)}"
        assert line.dropped == line.tokens == sum(one.tokens for one in lost) > 0
        read = {one.document for one in answer.answer.context}
        assert len(read) > 1 and not read & {one.id for one in lost}
        again = list(other.stream(question))[-1]
        assert isinstance(again, AnswerReady)
        assert again.answer.context == whole.answer.context
    corpus.unite()
