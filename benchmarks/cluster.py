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
from rag_app.corpus.shards.actors import release, start
from rag_app.corpus.shards.manifest import Division, ShardManifest
from rag_app.corpus.shards.ray_cluster import RemoteShards
from rag_app.corpus.shards.shards import Shards
from rag_app.progress import track
from retriever.features import Embed
from retriever.fusion import RANKINGS
from retriever.retriever import Retriever

COUNTS = (1, 2, 4)
ROUNDS = 3  # of work here and on Ray, in turn
MIB = 1 << 20

Search = Callable[[str], list[Hit]]


@dataclass(frozen=True, slots=True)
class SearchReport:
    """Searches over one number of shards, each question in turn in all three ways.

    Attributes:
        shards: How many.
        whole: Latency in one piece.
        here: In this process, one shard after the other.
        ray: Over an actor a shard.
        here_ratio: Median of what a question takes here by what it takes in one piece.
        ray_ratio: The same on Ray.
        equal: Questions of which all hits and scores are those of one piece, both ways.
        memory: MiB of an actor that are its own, at most.
    """

    shards: int
    whole: Latency
    here: Latency
    ray: Latency
    here_ratio: float
    ray_ratio: float
    equal: int
    memory: float


@dataclass(frozen=True, slots=True)
class WorkReport:
    """Encoding and a batch by one number of workers, in turn with this process.

    Attributes:
        workers: How many.
        tokens: Encoded in a second, documents committed and indexed: the median round.
        tokens_here: The same by this process.
        tokens_ratio: Of the two, the median of rounds.
        questions: Answered in an hour: the median round.
        questions_here: The same by this process.
        questions_ratio: Of the two, the median of rounds.
    """

    workers: int
    tokens: float
    tokens_here: float
    tokens_ratio: float
    questions: float
    questions_here: float
    questions_ratio: float


@contextmanager
def cluster(cpus: int) -> Iterator[str]:
    """A cluster of one node that counts so many cores; its address."""
    import ray
    from ray.cluster_utils import Cluster

    equals = {"RAY_worker_niceness": "0"}  # 15 by default, so that this process would go first
    os.environ.update({"RAY_USAGE_STATS_ENABLED": "0"} | equals)
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
        reports = list[SearchReport]()
        for count in counts:
            with closing(Shards(folder)) as shards:
                manifest = shards.divide(store, Division(count, ray=address, name="benchmark"))
                start(folder, manifest)
                with shards.reading() as pinned:
                    ways: list[Search] = [
                        lambda text: whole.search(text, k=10, passages=3),
                        _searching(pinned.search, embed),
                        _searching(RemoteShards(folder, manifest).search, embed),
                    ]
                    seconds, equal = _timed(sample, ways)
            one, here, there = (list(each) for each in zip(*seconds, strict=True))
            reports.append(
                SearchReport(
                    count,
                    Latency.of(one),
                    Latency.of(here),
                    Latency.of(there),
                    float(np.median(np.divide(here, one))),
                    float(np.median(np.divide(there, one))),
                    equal,
                    _memory(folder, manifest),
                )
            )
            release(folder, manifest)
    return reports


def _searching(search: Callable[..., list[Hit]], embed: Embed) -> Search:
    ranking = RANKINGS["default"]
    return lambda text: search(text, k=10, passages=3, where=None, embed=embed, ranking=ranking)


def _timed(
    sample: Sequence[SyntheticQuery], ways: Sequence[Search]
) -> tuple[list[list[float]], int]:
    """Seconds of each question in each way, in turn, and how many found the same in all of them."""
    for search in ways:
        search(sample[0].text)
    seconds, equal = [], 0
    for query in sample:
        own, hits = [], []
        for search in ways:
            started = perf_counter()
            hits.append(search(query.text))
            own.append(perf_counter() - started)
        seconds.append(own)
        equal += all(each == hits[0] for each in hits)
    return seconds, equal


def _memory(folder: Path, manifest: ShardManifest) -> float:
    """MiB that the largest actor does not share with others."""
    import psutil

    ray, largest = connect(manifest.ray), 0
    for state in manifest.shards:
        name = actor_name(manifest.name, folder, state.name, 0)
        process = ray.get(ray.get_actor(name, namespace=NAMESPACE).load.remote(state))
        largest = max(largest, psutil.Process(process).memory_full_info().uss)
    return largest / MIB


def work(
    documents: int, words: int, questions: int, counts: Sequence[int], *, rounds: int = ROUNDS
) -> list[WorkReport]:
    """Encoding and a batch with each number of workers, beside this process."""
    reports = []
    for count in counts:
        with (
            cluster(count) as address,
            tempfile.TemporaryDirectory() as name,
            Corpus(Path(name) / "here") as here,
            Corpus(Path(name) / "there", workers=RayWorkers(address)) as there,
        ):
            both, most = (here, there), there.questions_at_once
            for corpus in both:  # every worker loads its models
                corpus.add_documents(_texts(2 * most, 100, "warm"))
                _answer(corpus, 2 * most, Path(name) / "warm")
            tokens, asked = list[list[float]](), list[list[float]]()
            with track(range(rounds), doing=f"{count} workers") as steps:
                for step in steps:
                    tokens.append([_encode(one, documents, words, f"round {step}") for one in both])
                    out = Path(name) / f"round {step}"
                    asked.append([_answer(one, questions, out, first=step) for one in both])
        reports.append(WorkReport(count, *_medians(tokens), *_medians(asked)))
    return reports


def _encode(corpus: Corpus, documents: int, words: int, name: str) -> float:
    """Tokens a second."""
    started = perf_counter()
    report = corpus.add_documents(_texts(documents, words, name))
    seconds = perf_counter() - started
    assert len(report.added) == documents
    return report.tokens / seconds


def _answer(corpus: Corpus, questions: int, out: Path, *, first: int = -1) -> float:
    """Questions an hour; those of a batch that begins at another place are others."""
    start = (first + 1) * questions
    asked = [Question(f"q{n}", f"What does {word(start + n)} say?") for n in range(questions)]
    options = BatchOptions(workers=corpus.questions_at_once)
    place = out.with_name(f"{out.name} {corpus.folder.name}.jsonl")
    summary = run(corpus, asked, place, options=options)
    assert summary.failed == 0 and summary.asked == questions
    return summary.per_hour


def _medians(rates: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Of rates here and there, round by round: there, here, and there by here."""
    here, there = np.transpose(rates)
    return float(np.median(there)), float(np.median(here)), float(np.median(there / here))


def _texts(count: int, words: int, name: str) -> Iterator[Document]:
    """Documents of drawn words, in sentences."""
    draw = np.random.default_rng([*name.encode()])
    for number in range(count):
        drawn = draw.integers(0, 20_000, (words // 10, 10)).tolist()
        text = " ".join(" ".join(map(word, row)).capitalize() + "." for row in drawn)
        yield document(text, name=f"{name} {number}")


def text(found: Sequence[SearchReport], worked: Sequence[WorkReport]) -> str:
    """Two tables in Markdown, or the one of which something was measured."""
    tables = [_searches(found)] if found else []
    tables += [_work(worked)] if worked else []
    return "\n\n".join(tables)


def _searches(found: Sequence[SearchReport]) -> str:
    lines = [
        "| shards | one piece, p50 / p99 ms | here | Ray | here, Ray beside one piece "
        "| an actor's memory, MiB | equal hits |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        times = " | ".join(f"{w.p50:.0f} / {w.p99:.0f}" for w in (one.whole, one.here, one.ray))
        ratios = f"{one.here_ratio:.2f}, {one.ray_ratio:.2f}"
        lines.append(f"| {one.shards} | {times} | {ratios} | {one.memory:.0f} | {one.equal} |")
    return "\n".join(lines)


def _work(worked: Sequence[WorkReport]) -> str:
    lines = [
        "| workers | tokens a second | this process | ratio "
        "| questions an hour | this process | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in worked:
        tokens = f"{each.tokens:,.0f} | {each.tokens_here:,.0f} | {each.tokens_ratio:.2f}"
        asked = f"{each.questions:,.0f} | {each.questions_here:,.0f} | {each.questions_ratio:.2f}"
        lines.append(f"| {each.workers} | {tokens} | {asked} |")
    return "\n".join(lines)


@click.command()
@click.option("--passages", default=20_000, show_default=True, help="In the corpus of searches.")
@click.option("--queries", default=100, show_default=True, help="Searches; 0 for none.")
@click.option("--documents", default=6, show_default=True, help="Encoded; 0 for no workers.")
@click.option("--words", default=1000, show_default=True, help="In each of them.")
@click.option("--questions", default=6, show_default=True, help="In the batch.")
@click.option("--rounds", default=ROUNDS, show_default=True, help="Of encoding and a batch.")
@click.option("--counts", multiple=True, type=int, help="Shards, workers.  [default: 1 2 4]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    passages: int,
    queries: int,
    documents: int,
    words: int,
    questions: int,
    rounds: int,
    counts: tuple[int, ...],
    as_json: bool,
) -> None:
    """Shards and workers on a Ray cluster, all of it on this machine."""
    every = counts or COUNTS
    found = searches(passages, queries=queries, counts=every) if queries else []
    worked = work(documents, words, questions, every, rounds=rounds) if documents else []
    values = {"searches": [*map(asdict, found)], "work": [*map(asdict, worked)]}
    print_result(as_json, values, lambda: click.echo(text(found, worked)))
