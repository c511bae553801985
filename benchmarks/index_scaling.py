"""What an index costs by size, and how quickly it is searched: synthetic corpora, real code.

A corpus is drawn (`synthetic_corpus`), indexed and saved by one process, loaded by another as a
search loads it, and searched with queries of two sentences: dense, BM25, and both. Two processes,
so that the memory of each is its own. Encoding is not part of it: see `encoding`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import click
import numpy as np
import numpy.typing as npt

from benchmarks.ann import RECALL_AT, AnnReport, compare_indexes
from benchmarks.latency import Latency, latency, timed
from benchmarks.memory import peak_memory, resident_memory, touched_files
from benchmarks.shards import embedder
from benchmarks.synthetic_corpus import DIMENSION, WORDS, SyntheticCorpus, SyntheticQuery
from indexing.errors import InvalidRequest
from indexing.index.array_file import read_arrays
from indexing.index.dense.faiss_index import FaissIndex
from indexing.index.dense.vectors import Vectors
from indexing.index.lexical.bm25_builder import BLOCK, LexicalIndexBuilder
from indexing.index.lexical.postings import Postings
from indexing.index.segment import Segment
from indexing.index.snapshot import Snapshot
from indexing.index.speakers import Speakers
from indexing.store.store import Store
from indexing.text.vocabulary import Lexicon
from rag_app.cli.option_types import numbers
from rag_app.cli.options import print_result, with_json
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track
from retriever.fusion import RANKINGS
from retriever.lexical import Terms
from retriever.query import Query
from retriever.retriever import Retriever
from retriever.rounds.query_words import query_words
from retriever.rounds.rounds import run_together

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

T = TypeVar("T")

VECTORS = "vectors.npy"
INDEX = "index.segment"
SIZES = (10_000, 100_000, 1_000_000)
MAX_BASELINES = 131_072  # passages up to which HNSW, IVF and full scoring are measured too


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What building cost: seconds by step, and megabytes on disk and at most in memory."""

    seconds: dict[str, float]
    megabytes: dict[str, float]


@dataclass(frozen=True, slots=True)
class SizeReport:
    """One size.

    Attributes:
        passages: How many.
        documents: How many.
        seconds: To index the vectors and the words, to save, and to load.
        megabytes: On disk: of vectors and their index, and of words; in memory: own
            and mapped from files, the most while building, and after searching; of what is
            mapped, what one search and all of them touch, where the system tells.
        vectors: Indexes of vectors; the first is flat, the second that of a large corpus.
        words: Latency of BM25 of all passages, stems and pairs, for a query's three texts.
        search: Latency of scoring a query by ranking, as a search does at this size.
        everything: Latency of the default ranking with everything scored, where measured.
        candidates: The same with candidates scored.
        agreement: Share of the ten best documents that both name.
    """

    passages: int
    documents: int
    seconds: dict[str, float]
    megabytes: dict[str, float]
    vectors: tuple[AnnReport, ...]
    words: Latency
    search: dict[str, Latency]
    everything: Latency | None
    candidates: Latency | None
    agreement: float | None

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return asdict(self)


def evaluate(
    sizes: Sequence[int], *, queries: int = 100, seed: int = 0, notify: Callable[[str], None]
) -> list[SizeReport]:
    """Measure every size, building and searching in a process each."""
    reports = []
    for size in sizes:
        notify(f"measuring {size:,} passages")
        with tempfile.TemporaryDirectory() as name:
            built = _in_new_process(partial(build, size, Path(name), seed=seed))
            searching = partial(search, size, Path(name), built, queries=queries, seed=seed)
            reports.append(_in_new_process(searching))
    return reports


def _in_new_process(work: Callable[[], T]) -> T:
    """The result of `work`, done in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work).result()


def search(
    passages: int, folder: Path, built: BuildReport, *, queries: int = 100, seed: int = 0
) -> SizeReport:
    """Measure searching what `build` has written to the folder."""
    corpus = SyntheticCorpus.of(passages, seed=seed)
    seconds = dict(built.seconds)
    with closing(Store(folder)) as store:
        snapshot = timed(seconds, "load", lambda: load(folder / INDEX))
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        sample = _queries(corpus, vectors, queries)
        retriever = Retriever(store, snapshot, embedder(sample))
        words = _latency(sample, "Words", partial(_score_words, snapshot))
        rankings = {
            name: _latency(sample, name, replace(retriever, ranking=RANKINGS[name]).score)
            for name in RANKINGS
        }
        touched = _touched(sample, replace(retriever, ranking=RANKINGS["default"]).score)
        own, mapped = resident_memory()
        baselines = passages <= MAX_BASELINES
        full_scoring = (
            _compare_full_scoring(retriever, vectors, sample) if baselines else (None, None, None)
        )
        texts = [query.vectors for query in sample]
        indexes = tuple(compare_indexes(vectors, texts, baselines=baselines))
    return SizeReport(
        passages,
        corpus.documents,
        {name: round(value, 2) for name, value in seconds.items()},
        built.megabytes | {"own_searching": own, "mapped_searching": mapped} | touched,
        indexes,
        words,
        rankings,
        *full_scoring,
    )


# Building


def build(passages: int, folder: Path, *, seed: int = 0) -> BuildReport:
    """Index and save a drawn corpus in a folder, and its vectors beside it."""
    with peak_memory() as memory:
        seconds = _build(SyntheticCorpus.of(passages, seed=seed), folder)
    disk = _on_disk(folder / INDEX)
    return BuildReport(
        seconds, disk | {"own_building": memory.own, "mapped_building": memory.mapped}
    )


def _build(corpus: SyntheticCorpus, folder: Path) -> dict[str, float]:
    """Seconds of each step."""
    seconds = dict[str, float]()
    documents, lexicon = corpus.documents, corpus.lexicon()
    vectors = _vectors(corpus, folder / VECTORS)
    index = timed(seconds, "vectors", lambda: FaissIndex.build(vectors))
    firsts = np.searchsorted(corpus.owner, np.arange(documents))
    with closing(Store(folder, create=True)) as store:
        store.close()
        segment = Segment(
            document_rows=np.arange(documents),
            passage_rows=np.arange(len(corpus.owner)),
            bounds=np.append(firsts, len(corpus.owner)),
            language=np.zeros(documents, np.uint8),
            document_vectors=FaissIndex.build(np.array(vectors[firsts])),
            passage_vectors=index,
            lexicon=lexicon,
            postings=_postings(corpus, lexicon, seconds),
            speakers=Speakers.of([()] * len(corpus.owner)),
        )
        timed(seconds, "save", lambda: segment.save(folder / INDEX))
    return seconds


def _vectors(corpus: SyntheticCorpus, path: Path) -> FloatArray:
    """(passages, d), mapped from a file."""
    shape = (len(corpus.owner), DIMENSION)
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    start = 0
    for block in corpus.vectors():
        vectors[start : start + len(block)] = block
        start += len(block)
    return vectors


def _postings(
    corpus: SyntheticCorpus, lexicon: Lexicon, seconds: dict[str, float]
) -> dict[str, Postings]:
    """The indexes of the words; the drawing of these is not in the seconds."""
    words, is_function = LexicalIndexBuilder(), lexicon.is_function()
    step = dict[str, float]()
    seconds["words"] = 0.0
    with track(list(_blocks(corpus.owner)), doing="Indexing words") as steps:
        for first, last in steps:
            stems = corpus.words(first, last).ravel()
            passage = np.repeat(np.arange(first, last, dtype=np.int32), WORDS)
            document = corpus.owner[passage].astype(np.int32)
            timed(step, "words", partial(words.add, stems, passage, document, is_function))
            seconds["words"] += step["words"]
    postings = timed(step, "words", partial(words.postings, len(corpus.owner), corpus.documents))
    seconds["words"] += step["words"]
    return postings


def _blocks(owner: IntArray) -> Iterator[tuple[int, int]]:
    """Passages (first, last + 1) of whole documents, some BLOCK words at a time."""
    ends = np.append(np.flatnonzero(owner[1:] != owner[:-1]) + 1, len(owner))
    first = 0
    while first < len(owner):
        target = min(first + BLOCK // WORDS, len(owner))
        last = int(ends[np.searchsorted(ends, target)])
        yield first, last
        first = last


# Searching


def _queries(corpus: SyntheticCorpus, vectors: FloatArray, count: int) -> list[SyntheticQuery]:
    places = np.random.default_rng(corpus.seed).integers(0, len(vectors), count)
    return corpus.queries(np.array(vectors[places]), places)


def load(path: Path) -> Snapshot:
    """A corpus of one segment, as a search loads it."""
    return Snapshot.of([(Segment.load(path), ())])


def _score_words(snapshot: Snapshot, query: Query) -> None:
    (words,) = run_together([query_words(snapshot, query)])
    for text in (query.text, *query.sentences):
        terms = Terms.of(words.lexicon, text)
        words.passages.score(terms.stems)
        words.passage_pairs.score(terms.pairs)


def _compare_full_scoring(
    retriever: Retriever, vectors: FloatArray, sample: Sequence[SyntheticQuery]
) -> tuple[Latency, Latency, float]:
    """Latency with everything scored, with candidates scored, and overlap of the ten best."""
    latencies: list[Latency] = []
    best: list[list[set[int]]] = []
    for doing, flat_below in (("Everything", len(vectors) + 1), ("Candidates", 0)):
        index = Vectors.of(FaissIndex.build(vectors, flat_below=flat_below))
        variant = replace(retriever, snapshot=replace(retriever.snapshot, passage_vectors=index))
        latencies.append(_latency(sample, doing, variant.score))
        scores = [variant.score(Query.of(each.text)).documents for each in sample]
        best.append([set(np.argsort(-each, kind="stable")[:10].tolist()) for each in scores])
    agreement = np.mean([len(one & two) / len(one) for one, two in zip(*best, strict=True)])
    return latencies[0], latencies[1], round(float(agreement), 4)


def _latency(
    sample: Sequence[SyntheticQuery], doing: str, work: Callable[[Query], object]
) -> Latency:
    return latency([Query.of(each.text) for each in sample], doing, work)


def _touched(sample: Sequence[SyntheticQuery], work: Callable[[Query], object]) -> dict[str, float]:
    """Megabytes of files that one query touches, and that all do together."""
    queries = [Query.of(each.text) for each in sample]
    with touched_files() as one:
        work(queries[0])
    with touched_files() as all_:
        for query in queries:
            work(query)
    return {name: each[0] for name, each in (("one_search", one), ("searches", all_)) if each}


def _on_disk(path: Path) -> dict[str, float]:
    """Megabytes of a segment: of vectors with their index, and of all else."""
    sizes = {name: array.nbytes for name, array in read_arrays(path).items()}
    vectors = sum(size for name, size in sizes.items() if "_vectors" in name)
    rest = path.stat().st_size - vectors
    return {"vectors": round(vectors / 1e6, 1), "words": round(rest / 1e6, 1)}


def text(reports: Sequence[SizeReport]) -> str:
    """Two Markdown tables: what each size costs, and how its vectors are searched."""
    sizes = [f"{report.passages:,} passages" for report in reports]
    lines = {
        "documents": [f"{r.documents:,}" for r in reports],
        **{
            f"{label}, s": [f"{r.seconds[name]:.1f}" for r in reports]
            for name, label in (
                ("vectors", "index the vectors"),
                ("words", "index the words"),
                ("save", "save"),
                ("load", "load, checksums included"),
            )
        },
        **{
            f"{label}, MB": [
                f"{r.megabytes[name]:,.0f}" if name in r.megabytes else "-" for r in reports
            ]
            for name, label in (
                ("vectors", "vectors on disk"),
                ("words", "words on disk"),
                ("own_building", "memory of its own while building, at most"),
                ("own_searching", "memory of its own while searching"),
                ("mapped_searching", "pages of files in memory while searching"),
                ("one_search", "of these, what one search touches"),
                ("searches", "of these, what all of them touch"),
            )
        },
        "words alone, p50 / p99 ms": [_pair(r.words) for r in reports],
        **{
            f"search, {name}, p50 / p99 ms": [_pair(r.search[name]) for r in reports]
            for name in RANKINGS
        },
        "everything scored, p50 / p99 ms": [_pair(r.everything) for r in reports],
        "candidates scored, p50 / p99 ms": [_pair(r.candidates) for r in reports],
        "best ten that both name": [
            "-" if r.agreement is None else f"{r.agreement:.1%}" for r in reports
        ],
    }
    costs = grid(["", *sizes], [[name, *values] for name, values in lines.items()])
    rows = [
        [
            f"{report.passages:,}",
            one.index,
            f"{one.build:.1f}",
            _pair(one.latency),
            *(f"{one.recall[k]:.4f}" if k in one.recall else "-" for k in RECALL_AT),
        ]
        for report in reports
        for one in report.vectors
    ]
    header = ["passages", "index", "build s", "p50 / p99 ms", *(f"recall@{k}" for k in RECALL_AT)]
    return f"{costs}\n\n{grid(header, rows)}"


def _pair(latency: Latency | None) -> str:
    return "-" if latency is None else f"{latency.p50:.1f} / {latency.p99:.1f}"


def as_dict(reports: Sequence[SizeReport]) -> dict[str, object]:
    """The object that `--json` prints."""
    return {"task": "index-scaling", "sizes": [report.as_dict() for report in reports]}


@click.command
@click.option(
    "--passages",
    "sizes",
    callback=numbers(),
    default=",".join(map(str, SIZES)),
    show_default=True,
    help="Sizes to measure; a million takes six minutes, 1 GB of memory and 16 GB of disk.",
)
@click.option("--queries", type=click.IntRange(min=2), default=100, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@with_json
def command(sizes: tuple[int, ...], queries: int, seed: int, as_json: bool) -> None:
    """Cost of indexes and latency of searches by size, on synthetic vectors and words."""
    if min(sizes) < 1000:
        raise InvalidRequest("ask for 1,000 passages or more: less is searched in no time")
    reports = evaluate(sizes, queries=queries, seed=seed, notify=partial(click.echo, err=True))
    print_result(as_json, as_dict(reports), lambda: click.echo(text(reports)))
