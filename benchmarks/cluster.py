"""A Ray cluster on this machine: searches by number of shards, encoding and batches by workers.

All nodes are processes of one machine, which share its cores: what this shows is the cost of going
through Ray, and that nothing is in the way of more machines; it cannot show what those would give.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

from benchmarks.latency import Latency
from benchmarks.shards import embedder, fill
from benchmarks.synthetic_corpus import SyntheticCorpus, SyntheticQuery, word
from indexing.documents import Document, Hit
from indexing.files import document
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.batch.run import run
from rag_app.cli.options import print_result
from rag_app.corpus.cluster.address import actor_name
from rag_app.corpus.cluster.connection import NAMESPACE, connect
from rag_app.corpus.cluster.workers import RayWorkers
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.shards.manifest import ShardManifest
from rag_app.corpus.shards.ray_cluster import RemoteShards, release, start
from rag_app.corpus.shards.shards import Shards
from retriever.features import Embed
from retriever.fusion import RANKINGS
from retriever.retriever import Retriever

COUNTS = (1, 2, 4)
MIB = 1 << 20

Search = Callable[[str], list[Hit]]


@dataclass(frozen=True, slots=True)
class SearchReport:
    """Searches over one number of shards; 0 for one piece.

    Attributes:
        shards: How many.
        here: Latency in this process; one shard after the other.
        ray: Latency over an actor a shard; None in one piece.
        equal: Questions of which all hits and scores are those of one piece, both ways.
        memory: MiB of an actor that are its own, at most; 0 in one piece.
    """

    shards: int
    here: Latency
    ray: Latency | None
    equal: int
    memory: float


@dataclass(frozen=True, slots=True)
class WorkReport:
    """Encoding and a batch with one number of workers; 0 for this process.

    Attributes:
        workers: How many.
        tokens: Encoded in a second.
        questions: Answered in an hour.
    """

    workers: int
    tokens: float
    questions: float


@contextmanager
def cluster(cpus: int) -> Iterator[str]:
    """A cluster of one node that counts so many cores; its address."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    node = {"num_cpus": cpus, "object_store_memory": 80 * MIB, "include_dashboard": False}
    made: Any = Cluster(initialize_head=True, head_node_args=node)
    try:
        yield str(made.address)
    finally:
        ray.shutdown()
        made.shutdown()


def searches(passages: int, *, queries: int, counts: Sequence[int]) -> list[SearchReport]:
    """Each number of shards, here and on Ray in turn, beside one piece."""
    corpus = SyntheticCorpus.of(passages)
    with (
        tempfile.TemporaryDirectory() as name,
        closing(Store(Path(name), create=True)) as store,
        cluster(max(counts)) as address,
    ):
        folder = Path(name)
        vectors = fill(store, corpus)
        places = np.linspace(0, passages - 1, queries).astype(np.int64)
        sample = corpus.queries(vectors[places], places)
        embed = embedder(sample)
        whole = Retriever(store, Snapshot.build(store), embed)
        seconds, wanted = _timed(sample, lambda text: whole.search(text, k=10, passages=3))
        reports = [SearchReport(0, Latency.of(seconds), None, queries, 0)]
        for count in counts:
            shards = Shards(folder)
            with closing(shards):
                manifest = shards.divide(store, count, ray=address, name="benchmark")
                with shards.reading() as pinned:
                    here, one = _timed(sample, _searching(pinned.search, embed))
            start(folder, manifest)
            remote = RemoteShards(folder, manifest)
            there, other = _timed(sample, _searching(remote.search, embed))
            equal = sum(a == b == c for a, b, c in zip(wanted, one, other, strict=True))
            memory = _memory(folder, manifest)
            release(folder, manifest)
            reports.append(SearchReport(count, Latency.of(here), Latency.of(there), equal, memory))
    return reports


def _searching(search: Callable[..., list[Hit]], embed: Embed) -> Search:
    ranking = RANKINGS["default"]
    return lambda text: search(text, k=10, passages=3, where=None, embed=embed, ranking=ranking)


def _timed(sample: Sequence[SyntheticQuery], search: Search) -> tuple[list[float], list[list[Hit]]]:
    """Seconds and hits of each question, after one that is not counted."""
    search(sample[0].text)
    seconds, hits = [], []
    for query in sample:
        started = perf_counter()
        hits.append(search(query.text))
        seconds.append(perf_counter() - started)
    return seconds, hits


def _memory(folder: Path, manifest: ShardManifest) -> float:
    """MiB that the largest actor does not share with others."""
    import psutil

    ray, largest = connect(manifest.ray), 0
    for state in manifest.shards:
        name = actor_name(manifest.name, folder, state.name, 0)
        process = ray.get(ray.get_actor(name, namespace=NAMESPACE).load.remote(state))
        largest = max(largest, psutil.Process(process).memory_full_info().uss)
    return largest / MIB


def work(documents: int, words: int, questions: int, counts: Sequence[int]) -> list[WorkReport]:
    """Encoding and a batch here, then with each number of workers."""
    reports = [_work(documents, words, questions, None)]
    for count in counts:
        with cluster(count) as address:
            reports.append(_work(documents, words, questions, RayWorkers(address)))
    return reports


def _work(documents: int, words: int, questions: int, workers: RayWorkers | None) -> WorkReport:
    """Once to load all workers' models, then timed."""
    with (
        tempfile.TemporaryDirectory() as name,
        Corpus(Path(name) / "corpus", workers=workers) as corpus,
    ):
        together = corpus.questions_at_once
        corpus.add_documents(_texts(2 * together, 100, "warm"))
        started = perf_counter()
        report = corpus.add_documents(_texts(documents, words, "timed"))
        seconds = perf_counter() - started
        assert len(report.added) == documents
        options = BatchOptions(workers=together)
        asked = [Question(f"q{n}", f"What does {word(n)} say?") for n in range(questions)]
        run(corpus, asked[: 2 * together], Path(name) / "warm.jsonl", options=options)
        summary = run(corpus, asked, Path(name) / "answers.jsonl", options=options)
        assert summary.failed == 0
    count = 0 if workers is None else together // 2
    return WorkReport(count, report.tokens / seconds, summary.per_hour)


def _texts(count: int, words: int, name: str) -> Iterator[Document]:
    """Documents of drawn words, in sentences."""
    draw = np.random.default_rng(len(name))
    for number in range(count):
        drawn = draw.integers(0, 20_000, (words // 10, 10)).tolist()
        text = " ".join(" ".join(map(word, row)).capitalize() + "." for row in drawn)
        yield document(text, name=f"{name} {number}")


def text(found: Sequence[SearchReport], worked: Sequence[WorkReport]) -> str:
    """Two tables in Markdown."""
    lines = [
        "| shards | here, p50 / p99 ms | Ray, p50 / p99 ms | an actor's memory, MiB | equal hits |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        ray = f"{one.ray.p50:.0f} / {one.ray.p99:.0f}" if one.ray else ""
        memory = f"{one.memory:.0f}" if one.memory else ""
        here = f"{one.here.p50:.0f} / {one.here.p99:.0f}"
        lines.append(f"| {one.shards or 'one piece'} | {here} | {ray} | {memory} | {one.equal} |")
    lines += ["", "| workers | tokens a second | questions an hour |", "|---|---|---|"]
    for each in worked:
        name = each.workers or "this process"
        lines.append(f"| {name} | {each.tokens:,.0f} | {each.questions:,.0f} |")
    return "\n".join(lines)


@click.command()
@click.option("--passages", default=20_000, show_default=True, help="In the corpus of searches.")
@click.option("--queries", default=100, show_default=True, help="Searches.")
@click.option("--documents", default=60, show_default=True, help="Encoded.")
@click.option("--words", default=3000, show_default=True, help="In each of them.")
@click.option("--questions", default=100, show_default=True, help="In the batch.")
@click.option("--counts", multiple=True, type=int, help="Shards, workers.  [default: 1 2 4]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    passages: int,
    queries: int,
    documents: int,
    words: int,
    questions: int,
    counts: tuple[int, ...],
    as_json: bool,
) -> None:
    """Shards and workers on a Ray cluster, all of it on this machine."""
    found = searches(passages, queries=queries, counts=counts or COUNTS)
    worked = work(documents, words, questions, counts or COUNTS)
    values = {"searches": [*map(asdict, found)], "work": [*map(asdict, worked)]}
    print_result(as_json, values, lambda: click.echo(text(found, worked)))
