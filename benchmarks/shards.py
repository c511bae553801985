"""A synthetic corpus in one piece and in shards: search, publishing, and one changed document.

Everything is done in one process, on one core, so that what is compared is work: what several
machines would do at the same time is done one after the other here. The documents, hits and scores
of each search are compared with those in one piece.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import click
import numpy as np
import numpy.typing as npt

from benchmarks.latency import Latency, timed
from benchmarks.synthetic_corpus import DIMENSION, SyntheticCorpus, SyntheticQuery, word
from indexing.documents import Document, Hit, Passage
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.files import document
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from rag_app.cli.options import print_result
from rag_app.corpus.shards.manifest import Division
from rag_app.corpus.shards.parts import CorpusParts, SearchRequest
from rag_app.corpus.shards.shards import Shards
from rag_app.progress import track
from retriever.features import Embed
from retriever.query import Query
from retriever.retriever import Retriever

FloatArray = npt.NDArray[np.float32]

COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class ShardReport:
    """One number of shards; 0 for one piece.

    Attributes:
        shards: How many.
        publish: Seconds to make all of them.
        change: Seconds to publish one document that has changed.
        search: Latency of a question, one shard after the other.
        ratio: Median of what a question takes here by what it takes in one piece.
        equal: Questions whose hits are those in one piece, scores included.
    """

    shards: int
    publish: float
    change: float
    search: Latency
    ratio: float
    equal: int


def evaluate(passages: int, counts: Sequence[int], *, queries: int) -> list[ShardReport]:
    """Measure one piece, then each number of shards beside it, in turn for each question."""
    corpus = SyntheticCorpus.of(passages)
    with (
        tempfile.TemporaryDirectory() as name,
        closing(Store(Path(name), create=True)) as store,
    ):
        vectors = fill(store, corpus)
        places = np.linspace(0, passages - 1, queries).astype(np.int64)
        sample = corpus.queries(vectors[places], places)
        embed = embedder(sample)
        seconds = dict[str, float]()
        snapshot = timed(seconds, "build", lambda: Snapshot.build(store))
        whole = Retriever(store, snapshot, embed)
        reports, build = list[ShardReport](), sum(seconds.values())
        for count in counts:
            shards = Shards(Path(name))
            timed(seconds, "publish", lambda: shards.divide(store, Division(count)))  # noqa: B023
            with shards.reading() as pinned:
                times = [_both(whole, pinned, embed, query.text) for query in sample]
            one, many = zip(*((first, second) for first, second, _ in times), strict=True)
            if not reports:
                reports.append(ShardReport(0, build, build, Latency.of(one), 1, queries))
            store.collections.add([store.document_rows()[0][1]], _collection(store, count))
            timed(seconds, "change", lambda: shards.refresh(store))  # noqa: B023
            ratio = float(np.median(np.divide(many, one)))
            equal = sum(same for *_, same in times)
            reports.append(
                ShardReport(
                    count, seconds["publish"], seconds["change"], Latency.of(many), ratio, equal
                )
            )
            shards.close()
    return reports


def _collection(store: Store, number: int) -> str:
    """The name of a new collection."""
    return store.collections.create(f"collection {number}").name


def _both(
    whole: Retriever, pinned: CorpusParts, embed: Embed, text: str
) -> tuple[float, float, bool]:
    """Seconds of a question in one piece and in shards, and whether the hits are equal."""

    def in_shards() -> list[Hit]:
        return pinned.search(SearchRequest(text, k=10), embed)

    def in_one_piece() -> list[Hit]:
        return whole.search(text, k=10, passages=3)

    seconds, results = [], []
    for work in (in_one_piece, in_shards):
        started = perf_counter()
        results.append(work())
        seconds.append(perf_counter() - started)
    return seconds[0], seconds[1], results[0] == results[1]


def fill(store: Store, corpus: SyntheticCorpus) -> FloatArray:
    """Put the documents into the store; (passages, d) their vectors."""
    vectors = np.concatenate(list(corpus.vectors()))
    store.set_fingerprint(Fingerprint("drawn", "1", "none", 0, "mean", "float32", DIMENSION))
    bounds = np.searchsorted(corpus.owner, np.arange(corpus.documents + 1))
    with track(range(corpus.documents), doing="drawing documents") as steps:
        for number in steps:
            first, last = int(bounds[number]), int(bounds[number + 1])
            parts = [" ".join(map(word, row)) for row in corpus.words(first, last).tolist()]
            own = vectors[first:last]
            mean = own.mean(axis=0)
            encoded = EncodedDocument(mean / np.linalg.norm(mean), own, 0, 0)
            one, spans = made(parts, f"document {number}")
            store.put(one, spans, encoded, added="2026-11-22T00:00:00+00:00")
    return vectors


def made(parts: Sequence[str], name: str) -> tuple[Document, list[Passage]]:
    """A document of these passages."""
    ends = np.cumsum([len(part) + 1 for part in parts]).tolist()
    pairs = zip(parts, ends, strict=True)
    return document(" ".join(parts), name=name), [
        Passage(end - len(part) - 1, end - 1) for part, end in pairs
    ]


def embedder(sample: Sequence[SyntheticQuery]) -> Embed:
    """The drawn vectors of the texts of each query."""
    vectors = dict[str, FloatArray]()
    for query in sample:
        parsed = Query.of(query.text)
        vectors.update(zip((parsed.text, *parsed.sentences), query.vectors, strict=True))
    return lambda texts: np.stack([vectors[text] for text in texts])


def text(reports: Sequence[ShardReport]) -> str:
    """A table in Markdown."""
    lines = [
        "| shards | make them all, s | one document changes, s | search, p50 / p99 ms "
        "| beside one piece | equal hits |",
        "|---|---|---|---|---|---|",
    ]
    for one in reports:
        name = one.shards or "one piece"
        lines.append(
            f"| {name} | {one.publish:.1f} | {one.change:.1f} "
            f"| {one.search.p50:.1f} / {one.search.p99:.1f} | {one.ratio:.2f} | {one.equal} |"
        )
    return "\n".join(lines)


@click.command()
@click.option("--passages", default=20_000, show_default=True, help="In the corpus.")
@click.option("--queries", default=100, show_default=True, help="Questions of two sentences.")
@click.option("--shards", multiple=True, type=int, help="Numbers of shards.  [default: 1 2 4 8]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(passages: int, queries: int, shards: tuple[int, ...], as_json: bool) -> None:
    """Searching and publishing shards, beside a corpus in one piece."""
    reports = evaluate(passages, shards or COUNTS, queries=queries)
    print_result(as_json, [asdict(one) for one in reports], lambda: click.echo(text(reports)))
