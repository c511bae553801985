"""What an index costs by size, and how quickly it is searched: imitated corpora, real code.

A corpus is drawn (`imitation`), indexed and saved by one process, loaded by another as a search
loads it, and searched with queries of two sentences: by vectors alone, by words alone, and whole.
So the memory of each is its own. Encoding is not part of it: see `encoding`.
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

import numpy as np
import numpy.typing as npt

from indexing.index.bm25 import Postings
from indexing.index.bm25_builder import BLOCK, Words
from indexing.index.faiss_index import VectorIndex
from indexing.index.snapshot import Snapshot
from indexing.index.speakers import Speakers
from indexing.store.store import Store
from indexing.text.vocabulary import Lexicon
from rag_app.evaluation.imitation import DIMENSION, WORDS, Asked, Imitation
from rag_app.evaluation.latency import Latency, latency, timed
from rag_app.evaluation.memory import held, watched
from rag_app.evaluation.neighbours import RECALL_AT, Searched, searched
from rag_app.evaluation.table import grid
from rag_app.progress import counted
from retriever.fusion import RANKINGS
from retriever.lexical import passage_pairs, passage_stems
from retriever.query import Query
from retriever.retriever import Retriever

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

T = TypeVar("T")

VECTORS = "vectors.npy"
SIZES = (10_000, 100_000, 1_000_000)
COMPARED = 131_072  # passages up to which HNSW, inverted lists and full scoring are measured too


@dataclass(frozen=True, slots=True)
class Built:
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
            and mapped from files, the most while building, and after searching.
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
    """Measure every size, building and searching in a process each."""
    reports = []
    for size in sizes:
        notify(f"measuring {size:,} passages")
        with tempfile.TemporaryDirectory() as name:
            built = _apart(partial(build, size, Path(name), seed=seed))
            asking = partial(search, size, Path(name), built, queries=queries, seed=seed)
            reports.append(_apart(asking))
    return reports


def _apart(work: Callable[[], T]) -> T:
    """The same in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work).result()


def search(
    passages: int, folder: Path, built: Built, *, queries: int = 100, seed: int = 0
) -> SizeReport:
    """Measure the searching of what `build` has left in the folder."""
    imitation = Imitation.of(passages, seed=seed)
    seconds = dict(built.seconds)
    with closing(Store(folder)) as store:
        snapshot = timed(seconds, "load", lambda: Snapshot.load(folder / "index", store))
        assert snapshot is not None
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        asked = _queries(imitation, vectors, queries)
        retriever = Retriever(store, snapshot, _embedder(asked))
        words = _latency(asked, "Words", partial(_words_of, snapshot))
        rankings = {
            name: _latency(asked, name, replace(retriever, ranking=RANKINGS[name]).score)
            for name in RANKINGS
        }
        own, mapped = held()
        several = passages <= COMPARED
        everything = _both_ways(retriever, vectors, asked) if several else (None, None, None)
        texts = [one.vectors for one in asked]
        indexes = tuple(searched(vectors, texts, rivals=several))
    return SizeReport(
        passages,
        imitation.documents,
        {name: round(value, 2) for name, value in seconds.items()},
        built.megabytes | {"own_searching": own, "mapped_searching": mapped},
        indexes,
        words,
        rankings,
        *everything,
    )


# Building


def build(passages: int, folder: Path, *, seed: int = 0) -> Built:
    """Index and save a drawn corpus in a folder, and its vectors beside it."""
    with watched() as memory:
        seconds = _build(Imitation.of(passages, seed=seed), folder)
    disk = _on_disk(next((folder / "index").glob("g*")))
    return Built(seconds, disk | {"own_building": memory.own, "mapped_building": memory.mapped})


def _build(imitation: Imitation, folder: Path) -> dict[str, float]:
    """Seconds of each step."""
    seconds = dict[str, float]()
    documents, lexicon = imitation.documents, imitation.lexicon()
    vectors = _vectors(imitation, folder / VECTORS)
    index = timed(seconds, "vectors", lambda: VectorIndex.build(vectors))
    firsts = np.searchsorted(imitation.owner, np.arange(documents))
    with closing(Store(folder, create=True)) as store:
        snapshot = Snapshot(
            generation=store.generation,
            stamp=store.stamp,
            document_rows=np.arange(documents),
            passage_rows=np.arange(len(imitation.owner)),
            owner=imitation.owner,
            document_vectors=VectorIndex.build(np.array(vectors[firsts])),
            passage_vectors=index,
            lexicon=lexicon,
            **_postings(imitation, lexicon, seconds),
            speakers=Speakers.of([()] * len(imitation.owner)),
        )
        timed(seconds, "save", lambda: snapshot.save(folder / "index"))
    return seconds


def _vectors(imitation: Imitation, path: Path) -> FloatArray:
    """(passages, d), mapped from a file."""
    shape = (len(imitation.owner), DIMENSION)
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    start = 0
    for block in imitation.vectors():
        vectors[start : start + len(block)] = block
        start += len(block)
    return vectors


def _postings(
    imitation: Imitation, lexicon: Lexicon, seconds: dict[str, float]
) -> dict[str, Postings]:
    """The indexes of the words; the drawing of these is not in the seconds."""
    words, is_function = Words(), lexicon.is_function()
    taken = dict[str, float]()
    seconds["words"] = 0.0
    with counted(list(_blocks(imitation.owner)), doing="Indexing words") as steps:
        for first, last in steps:
            stems = imitation.words(first, last).ravel()
            passage = np.repeat(np.arange(first, last, dtype=np.int32), WORDS)
            document = imitation.owner[passage].astype(np.int32)
            timed(taken, "words", partial(words.add, stems, passage, document, is_function))
            seconds["words"] += taken["words"]
    whole = partial(words.postings, len(imitation.owner), imitation.documents)
    postings = timed(taken, "words", whole)
    seconds["words"] += taken["words"]
    return postings


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
                ("own_building", "memory of its own while building, at most"),
                ("own_searching", "memory of its own while searching"),
                ("mapped_searching", "pages of files in memory while searching"),
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
