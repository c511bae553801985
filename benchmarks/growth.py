"""A corpus that grows while it is searched: what a document more costs, and whom it disturbs.

A synthetic corpus is committed and indexed; then documents of twenty passages come, one by one and
a thousand in a row from another process, while this one searches. Vectors are drawn: encoding is
not part of it.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import click
import numpy as np
import psutil

from benchmarks.latency import clock
from benchmarks.shards import embedder, fill, made
from benchmarks.synthetic_corpus import DIMENSION, WORDS, SyntheticCorpus, word
from indexing.encoder.pooling import EncodedDocument
from indexing.store.store import FILE_NAME, Store
from rag_app.cli.option_types import numbers
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.segments import Segments
from rag_app.corpus.shards.shards import copy_segments
from rag_app.corpus.stores import Stores
from rag_app.laboratory.evaluation.table import grid
from retriever.features import Embed
from retriever.retriever import Retriever

PASSAGES = 20  # of a document that comes
SINGLE = 20  # documents that come one by one


@dataclass(frozen=True, slots=True)
class GrowthReport:
    """One size.

    Attributes:
        passages: Before.
        first_index: Seconds to index them; None where that was done before.
        change: Seconds from the commit of a document to its first hit: median, and the most.
        written: Megabytes written for it: median, and the most.
        removal: Seconds from the removal of a document to a search without it: median.
        quiet: Milliseconds of a search: p50, p95 and the worst.
        cpu: Medians that other programs disturb less, CPU milliseconds: a document more to its
            first hit, a search before, and one in the end.
        beside: The same while a process adds documents.
        searches: How many these are.
        adding: Seconds in which that process adds them.
        delay: Seconds from a commit of that process until a search finds it, at most.
        memory: Megabytes of that process, at most.
        amplification: Bytes of segments written while it grew, by bytes of the documents' own.
        segments: How many there are in the end.
        after: As `quiet`, in the end.
    """

    passages: int
    first_index: float | None
    change: tuple[float, float]
    written: tuple[float, float]
    removal: float
    quiet: tuple[float, float, float]
    cpu: tuple[float, float, float]
    beside: tuple[float, float, float]
    searches: int
    adding: float
    delay: float
    memory: float
    amplification: float
    segments: int
    after: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Written:
    """What the process that adds has to say of itself."""

    seconds: float
    megabytes: float
    bytes_written: int


def evaluate(
    passages: int, *, documents: int, queries: int, keep: Path | None = None
) -> GrowthReport:
    """Measure a corpus of so many passages, and so many documents more.

    Args:
        passages: Of the corpus.
        documents: That come in a row.
        queries: Of each kind.
        keep: A folder in which the corpus stays as it is at first, for other runs.
    """
    corpus = SyntheticCorpus.of(passages)
    with tempfile.TemporaryDirectory(dir=keep) as name:
        folder, made = Path(name) / "grown", (keep or Path(name)) / str(passages)
        first_index = None if made.exists() else _make(made, corpus)
        copy_segments(made, folder)
        shutil.copy(made / FILE_NAME, folder)
        with closing(Store(folder)) as store:
            return _grow(store, folder, corpus, first_index, documents, queries)


def _make(folder: Path, corpus: SyntheticCorpus) -> float:
    """A corpus; seconds to index it."""
    with closing(Store(folder, create=True)) as store:
        fill(store, corpus)
        return clock(lambda: Segments(folder).refresh(store))


def _grow(
    store: Store,
    folder: Path,
    corpus: SyntheticCorpus,
    first_index: float | None,
    documents: int,
    queries: int,
) -> GrowthReport:
    writing, reading = Segments(folder), Segments(folder)
    places = np.linspace(0, len(corpus.owner) - 1, queries).astype(np.int64)
    sample = corpus.queries(reading.current(store).passage_vectors.at(places), places)
    texts, embed = [each.text for each in sample], embedder(sample)
    search = partial(_search, store, reading, embed)
    search(texts[0])
    quiet = _percentiles([clock(partial(search, text)) for text in texts])
    alone = _cpu(search, texts)
    singles = [_one_more(store, writing, search, n, texts[n]) for n in range(SINGLE)]
    rows = store.document_rows()[-3:]
    removals = [_one_less(store, writing, search, row[1], texts[0]) for row in rows]
    seen: list[tuple[float, int]] = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        process.submit(_warm_up).result()
        adding = process.submit(_add, folder, documents)
        times = list[float]()
        while not adding.done():
            times.append(clock(partial(search, texts[len(times) % len(texts)])))
            seen.append((perf_counter(), _pending(store)))
        added = adding.result()
    after = _percentiles([clock(partial(search, text)) for text in texts])
    cpu = _milliseconds([one[2] for one in singles]), alone, _cpu(search, texts)
    entries = [entry for _, entry in store.index.manifest().segments]
    each = sum(entry.size for entry in entries) / sum(entry.passages for entry in entries)
    return GrowthReport(
        len(corpus.owner),
        first_index,
        _median_and_most([seconds for seconds, _, _ in singles]),
        _median_and_most([megabytes for _, megabytes, _ in singles]),
        round(float(np.median(removals)), 3),
        quiet,
        cpu,
        _percentiles(times),
        len(times),
        round(added.seconds, 1),
        round(_longest(seen), 2),
        round(added.megabytes),
        round(added.bytes_written / (each * documents * PASSAGES), 1),
        len(entries),
        after,
    )


def _search(store: Store, segments: Segments, embed: Embed, text: str) -> list[str]:
    """Documents, as a search finds them at this moment."""
    with store.reading():
        retriever = Retriever(store, segments.current(store), embed)
        return [hit.title for hit in retriever.search(text, k=10)]


def _one_more(
    store: Store, segments: Segments, search: partial[list[str]], number: int, text: str
) -> tuple[float, float, float]:
    """Seconds from the commit of a document to a search that reads it, megabytes written, CPU s."""
    before, written, used = perf_counter(), _bytes_written(), process_time()
    _put(store, -1 - number)
    segments.refresh(store)
    search(text)
    used = process_time() - used
    return perf_counter() - before, (_bytes_written() - written) / 1e6, used


def _one_less(
    store: Store, segments: Segments, search: partial[list[str]], id_: str, text: str
) -> float:
    def change() -> None:
        store.remove([id_])
        segments.refresh(store)
        search(text)

    return clock(change)


def _warm_up() -> None:
    """Let a process import what it needs."""


def _add(folder: Path, documents: int) -> _Written:
    """Add so many documents, as `Corpus.add` does."""
    files: dict[str, int] = {}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            for path in (folder / ".index").glob("*.segment"):
                files.setdefault(path.name, path.stat().st_size)

    watching = threading.Thread(target=watch)
    stores = Stores(folder)
    before = {path.name for path in (folder / ".index").glob("*.segment")}
    watching.start()
    started = perf_counter()
    with stores.writing() as store, Indexes(folder, stores).publishing(store):
        for number in range(documents):
            _put(store, number)
    seconds = perf_counter() - started
    done.set()
    watching.join()
    for path in (folder / ".index").glob("*.segment"):
        files.setdefault(path.name, path.stat().st_size)
    written = sum(size for name, size in files.items() if name not in before)
    return _Written(seconds, _most_memory(), written)


def _put(store: Store, number: int) -> None:
    draw = np.random.default_rng(1 << 20 | number & 0xFFFFF)
    parts = [
        " ".join(word(int(n) % 20_000) for n in row) for row in draw.zipf(1.2, (PASSAGES, WORDS))
    ]
    one, spans = made(parts, f"new {number}")
    vectors = draw.standard_normal((PASSAGES + 1, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    encoded = EncodedDocument(vectors[0], vectors[1:], 0, 0)
    store.put(one, spans, encoded, added="2026-11-23T00:00:00+00:00")


def _pending(store: Store) -> int:
    """The oldest document that is committed and not indexed; 0 if there is none."""
    return next(iter(store.index.unindexed()), 0)


def _longest(seen: Sequence[tuple[float, int]]) -> float:
    """Seconds for which the same document was the oldest one that is not indexed, at most."""
    longest, row, since = 0.0, 0, 0.0
    for time, oldest in seen:
        if oldest != row:
            row, since = oldest, time
        if row:
            longest = max(longest, time - since)
    return longest


def _most_memory() -> float:
    """Megabytes that this process had at most; `getrusage` counts those of its parent, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0]) / 1e3


def _bytes_written() -> int:
    """Bytes that this process has given to the system to be written."""
    return int(psutil.Process().io_counters().write_chars)


def _percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    p50, p95, most = np.percentile(np.array(seconds) * 1000, [50, 95, 100])
    return round(float(p50), 1), round(float(p95), 1), round(float(most), 1)


def _cpu(search: Callable[[str], object], texts: Sequence[str]) -> float:
    """CPU milliseconds of a search, the median."""
    used = []
    for text in texts:
        before = process_time()
        search(text)
        used.append(process_time() - before)
    return _milliseconds(used)


def _milliseconds(seconds: Sequence[float]) -> float:
    return round(float(np.median(seconds)) * 1000, 1)


def _median_and_most(values: Sequence[float]) -> tuple[float, float]:
    return round(float(np.median(values)), 3), round(max(values), 3)


def text(reports: Sequence[GrowthReport]) -> str:
    """A table in Markdown."""
    rows: list[tuple[str, Callable[[GrowthReport], str]]] = [
        ("index them, s", lambda r: f"{r.first_index:.1f}" if r.first_index else "before"),
        ("one document more, to its first hit, median / most, s", lambda r: _slashed(r.change)),
        ("written for it, median / most, MB", lambda r: _slashed(r.written)),
        ("one document less, s", lambda r: f"{r.removal}"),
        ("search, quiet, p50 / p95 / worst, ms", lambda r: _slashed(r.quiet)),
        ("CPU ms: a document more / a search / one afterwards", lambda r: _slashed(r.cpu)),
        ("beside an add, p50 / p95 / worst, ms", lambda r: _slashed(r.beside)),
        ("searches beside it", lambda r: f"{r.searches}"),
        ("the add, s", lambda r: f"{r.adding}"),
        ("committed and not yet found, at most, s", lambda r: f"{r.delay}"),
        ("memory of the writer, MB", lambda r: f"{r.memory:.0f}"),
        ("write amplification", lambda r: f"{r.amplification}"),
        ("segments afterwards", lambda r: f"{r.segments}"),
        ("search afterwards, p50 / p95 / worst, ms", lambda r: _slashed(r.after)),
    ]
    lines = [[name, *(show(report) for report in reports)] for name, show in rows]
    return grid(["", *(f"{report.passages:,} passages" for report in reports)], lines)


def _slashed(values: Sequence[float]) -> str:
    return " / ".join(f"{value:g}" for value in values)


@click.command
@click.option(
    "--passages",
    "sizes",
    callback=numbers(),
    default="10000,100000",
    show_default=True,
    help="Sizes to measure.",
)
@click.option("--documents", default=1000, show_default=True, help="That come in a row.")
@click.option("--queries", type=click.IntRange(min=20), default=100, show_default=True)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder in which the corpora stay for other runs; a million take half an hour to make.",
)
@with_json
def command(
    sizes: tuple[int, ...], documents: int, queries: int, keep: Path | None, as_json: bool
) -> None:
    """A corpus that grows while it is searched."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    reports = [evaluate(size, documents=documents, queries=queries, keep=keep) for size in sizes]
    values = {"task": "growth", "sizes": [asdict(report) for report in reports]}
    print_result(as_json, values, lambda: click.echo(text(reports)))
