"""What an index costs by size, and how quickly it is searched: imitated corpora, real code.

Each size is measured in a process of its own, so that its memory is its own. A corpus is drawn
(`imitation`), indexed, saved, loaded as a search loads it, and searched with queries of two
sentences: by vectors alone, by words alone, and whole. Encoding is not part of it: see `encoding`.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from indexing.inversion import BLOCK, Words, empty_vectors
from indexing.snapshot import Snapshot
from indexing.speakers import Speakers
from indexing.store import Store
from indexing.vectors import FLAT_BELOW, VectorIndex
from rag_app.evaluation.imitation import DIMENSION, WORDS, Asked, Imitation
from rag_app.evaluation.latency import Latency, latency, timed
from rag_app.evaluation.neighbours import RECALL_AT, Searched, searched
from rag_app.evaluation.table import grid
from rag_app.evaluation.waiting import counted
from retriever.fusion import RANKINGS
from retriever.lexical import passage_pairs, passage_stems
from retriever.query import Query
from retriever.retriever import Retriever

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

SIZES = (10_000, 100_000, 1_000_000)
COMPARED = 131_072  # passages up to which HNSW, inverted lists and full scoring are measured too


@dataclass(frozen=True, slots=True)
class SizeReport:
    """One size.

    Attributes:
        passages: How many.
        documents: How many.
        seconds: To index the vectors and the words, to save, and to load.
        megabytes: On disk: of vectors and their index, and of words; in memory: resident after
            loading and searching (mapped files included), and the peak while building.
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
    vectors: tuple[Searched, ...]
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
    """Measure every size, each in a process of its own."""
    reports = []
    for size in sizes:
        notify(f"measuring {size:,} passages")
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            reports.append(process.submit(measure, size, queries=queries, seed=seed).result())
    return reports


def measure(passages: int, *, queries: int = 100, seed: int = 0) -> SizeReport:
    """Measure one size in this process."""
    imitation = Imitation.of(passages, seed=seed)
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name), create=True)
        seconds, vectors = _build(imitation, store)
        peak = _peak()
        snapshot = timed(seconds, "load", lambda: Snapshot.load(Path(name) / "index", store))
        assert snapshot is not None
        asked = _queries(imitation, vectors, queries)
        retriever = Retriever(store, snapshot, _embedder(asked))
        words = _latency(asked, "Words", partial(_words_of, snapshot))
        search = {
            name: _latency(asked, name, replace(retriever, ranking=RANKINGS[name]).score)
            for name in RANKINGS
        }
        resident = _resident()
        disk = _on_disk(next((Path(name) / "index").glob("g*")))
        several = passages <= COMPARED
        everything = _both_ways(retriever, vectors, asked) if several else (None, None, None)
        texts = [one.vectors for one in asked]
        indexes = tuple(searched(vectors, texts, rivals=several))
        store.close()
    return SizeReport(
        passages,
        imitation.documents,
        {name: round(value, 2) for name, value in seconds.items()},
        {**disk, "resident": resident, "peak": peak},
        indexes,
        words,
        search,
        *everything,
    )


# Building


def _build(imitation: Imitation, store: Store) -> tuple[dict[str, float], FloatArray]:
    """A saved snapshot, the seconds that it took, and the vectors of the passages."""
    seconds: dict[str, float] = {}
    passages, documents = len(imitation.owner), imitation.documents
    vectors = empty_vectors(passages, DIMENSION, in_memory=passages < FLAT_BELOW)
    start = 0
    for block in imitation.vectors():
        vectors[start : start + len(block)] = block
        start += len(block)
    index = timed(seconds, "vectors", lambda: VectorIndex.build(vectors))
    firsts = np.searchsorted(imitation.owner, np.arange(documents))
    wholes = VectorIndex.build(np.array(vectors[firsts]))
    words, lexicon = Words(), imitation.lexicon()
    seconds["words"] = 0.0
    blocks = list(_blocks(imitation.owner))
    with counted(blocks, doing="Indexing words") as steps:
        for first, last in steps:
            stems = imitation.words(first, last).ravel()
            passage = np.repeat(np.arange(first, last, dtype=np.int32), WORDS)
            document = imitation.owner[passage].astype(np.int32)
            started = perf_counter()
            words.add(stems, passage, document, lexicon.is_function())
            seconds["words"] += perf_counter() - started
    started = perf_counter()
    postings = words.postings(passages, documents)
    seconds["words"] += perf_counter() - started
    snapshot = Snapshot(
        generation=store.generation,
        stamp=store.stamp,
        document_rows=np.arange(documents),
        passage_rows=np.arange(passages),
        owner=imitation.owner,
        document_vectors=wholes,
        passage_vectors=index,
        lexicon=lexicon,
        **postings,
        speakers=Speakers.of([()] * passages),
    )
    timed(seconds, "save", lambda: snapshot.save(store.folder / "index"))
    return seconds, vectors


def _blocks(owner: IntArray) -> Iterator[tuple[int, int]]:
    """Passages (first, last + 1) of whole documents, some BLOCK words at a time."""
    ends = np.append(np.flatnonzero(owner[1:] != owner[:-1]) + 1, len(owner))
    first = 0
    while first < len(owner):
        wanted = min(first + BLOCK // WORDS, len(owner))
        last = int(ends[np.searchsorted(ends, wanted)])
        yield first, last
        first = last


# Searching


def _queries(imitation: Imitation, vectors: FloatArray, count: int) -> list[Asked]:
    places = np.random.default_rng(imitation.seed).integers(0, len(vectors), count)
    return imitation.queries(np.array(vectors[places]), places)


def _embedder(asked: Sequence[Asked]) -> Callable[[Sequence[str]], FloatArray]:
    """Vectors of queries and of their sentences by look-up."""
    known: dict[str, FloatArray] = {}
    for one in asked:
        query = Query.of(one.text)
        known |= dict(zip((query.text, *query.sentences), one.vectors, strict=True))
    return lambda texts: np.stack([known[text] for text in texts])


def _words_of(snapshot: Snapshot, query: Query) -> None:
    for text in (query.text, *query.sentences):
        passage_stems(snapshot, [text])
        passage_pairs(snapshot, [text])


def _both_ways(
    retriever: Retriever, vectors: FloatArray, asked: Sequence[Asked]
) -> tuple[Latency, Latency, float]:
    """The default ranking with everything scored, with candidates scored, and how they agree."""
    latencies: list[Latency] = []
    best: list[list[set[int]]] = []
    for doing, flat_below in (("Everything", len(vectors) + 1), ("Candidates", 0)):
        index = VectorIndex.build(vectors, flat_below=flat_below)
        one = replace(retriever, snapshot=replace(retriever.snapshot, passage_vectors=index))
        latencies.append(_latency(asked, doing, one.score))
        scores = [one.score(Query.of(each.text)).documents for each in asked]
        best.append([set(np.argsort(-each, kind="stable")[:10].tolist()) for each in scores])
    agreement = np.mean([len(one & two) / len(one) for one, two in zip(*best, strict=True)])
    return latencies[0], latencies[1], round(float(agreement), 4)


def _latency(asked: Sequence[Asked], doing: str, work: Callable[[Query], object]) -> Latency:
    return latency([Query.of(one.text) for one in asked], doing, work)


def _on_disk(folder: Path) -> dict[str, float]:
    """Megabytes of a saved snapshot: of vectors with their index, and of all else."""
    sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
    vectors = sum(
        size
        for name, size in sizes.items()
        if name.endswith(".faiss") or name in ("passages.npy", "documents.npy")
    )
    rest = sum(sizes.values()) - vectors
    return {"vectors": round(vectors / 1e6, 1), "words": round(rest / 1e6, 1)}


def _resident() -> float:
    """Megabytes of this process in memory now, mapped files included."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:  # not Linux: the peak stands for it
        return _peak()
    return round(pages * resource.getpagesize() / 1e6, 1)


def _peak() -> float:
    """Megabytes that this process held at most, mapped files included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6, 1)


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
            f"{label}, MB": [f"{r.megabytes[name]:,.0f}" for r in reports]
            for name, label in (
                ("vectors", "vectors on disk"),
                ("words", "words on disk"),
                ("resident", "in memory while searching"),
                ("peak", "in memory while building"),
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
    return {"task": "speed", "sizes": [report.as_dict() for report in reports]}
