"""The documents of a task as a corpus that is encoded once, and scores of all of them for a query.

A corpus is kept and used again when it was encoded in the same way and holds nothing but documents
of the task; so a second evaluation, or one that was killed, encodes only what is missing. The
vectors of the queries are kept beside it. `rag-app evaluate clear` removes those in the cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Recipe
from indexing.errors import CorpusError
from indexing.store.store import FILE_NAME, Store
from rag_app.corpus.corpus import Corpus
from rag_app.datasets.task import Task
from rag_app.evaluation.cache_files import drop_older, home
from rag_app.progress import counted
from retriever.fusion import RANKINGS
from retriever.query import Query
from retriever.retriever import Retriever

FloatArray = npt.NDArray[np.float32]

QUERIES_AT_ONCE = 256


@dataclass(frozen=True)
class Collection:
    """A task's documents, ready to be ranked.

    Attributes:
        task: The task.
        retriever: Over exactly its documents.
        positions: (documents,) where each document of the task stands in the retriever's scores.
        encoded: Documents that had to be encoded now.
        seconds: What that took, indexing the words included.
    """

    task: Task
    retriever: Retriever
    positions: npt.NDArray[np.int64]
    encoded: int
    seconds: float

    def scores(self, query: str) -> FloatArray:
        """(documents,) how well each document of the task answers a query."""
        return self.retriever.score(Query.of(query)).documents[self.positions]


@contextmanager
def collected(
    task: Task,
    *,
    encoder: Encoder,
    ranking: str,
    folder: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> Iterator[Collection]:
    """The documents of a task, encoded or found encoded.

    Args:
        task: What is ranked. Its queries are encoded at once, all in batches.
        encoder: How documents and queries are encoded.
        ranking: A name from `retriever.fusion.RANKINGS`.
        folder: A corpus to use or to make; None takes one in the user's cache folder.
        notify: Told when the folder holds another corpus, which is then left alone.
    """
    place = _place(task, encoder.recipe, folder, notify)
    started = perf_counter()
    with Corpus(place, encoder=encoder) as corpus:
        missing = [one for one in task.documents if one.digest not in _held(place)]
        if missing:
            with counted(missing, doing="Encoding documents", then="Indexing words") as steps:
                corpus.add_documents(steps)
        seconds = perf_counter() - started if missing else 0.0
        with corpus.retriever(ranking) as retriever:
            embed = _embedder(task, encoder, place, dense=_is_dense(ranking))
            yield Collection(
                task,
                replace(retriever, embed=embed),
                _positions(task.documents, retriever),
                len(missing),
                seconds,
            )


def _place(
    task: Task, recipe: Recipe, folder: Path | None, notify: Callable[[str], None] | None
) -> Path:
    """The folder asked for, unless it holds something else; then one in the cache."""
    if folder is not None and _fits(folder, task, recipe):
        return folder
    key = json.dumps([recipe.as_dict(), task.digest], sort_keys=True)
    name = f"{task.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    cached = home() / name
    if folder is not None and notify:
        notify(
            f"{folder} holds other documents, or vectors made in another way; it stays as it is, "
            f"and this evaluation uses {cached}"
        )
    return cached


def _fits(folder: Path, task: Task, recipe: Recipe) -> bool:
    """Whether a folder is free, or holds documents of the task and no others, encoded so."""
    if not (folder / FILE_NAME).exists():
        return True
    try:
        store = Store(folder)
    except CorpusError:
        return False
    held, made = set(store.digests()), store.recipe()
    store.close()
    return made in (None, recipe) and held <= {document.digest for document in task.documents}


def _held(folder: Path) -> set[str]:
    """Digests of the documents that are in a corpus already."""
    if not (folder / FILE_NAME).exists():
        return set()
    store = Store(folder)
    held = set(store.digests())
    store.close()
    return held


def _positions(documents: Sequence[Document], retriever: Retriever) -> npt.NDArray[np.int64]:
    """Where documents stand in a retriever's scores, by their content."""
    rows = {id_: row for row, id_, *_ in retriever.store.document_rows()}
    ids = {digest: id_ for digest, (id_, _) in retriever.store.digests().items()}
    wanted = np.array([rows[ids[document.digest]] for document in documents], np.int64)
    return np.searchsorted(retriever.snapshot.document_rows, wanted)


def _is_dense(ranking: str) -> bool:
    chosen = RANKINGS[ranking]
    return any(name.startswith("dense") for name in (*chosen.documents, *chosen.passages))


def _embedder(
    task: Task, encoder: Encoder, folder: Path, *, dense: bool
) -> Callable[[Sequence[str]], FloatArray]:
    """Query vectors by look-up; zeros for a ranking that does not use them."""
    if not dense:
        return lambda texts: np.zeros((len(texts), encoder.recipe.dimension), np.float32)
    queries = [Query.of(query.text) for query in task.queries]
    texts = sorted({text for query in queries for text in (query.text, *query.sentences)})
    vectors = _query_vectors(texts, encoder, folder)
    row = {text: number for number, text in enumerate(texts)}
    return lambda asked: vectors[[row[text] for text in asked]]


def _query_vectors(texts: Sequence[str], encoder: Encoder, folder: Path) -> FloatArray:
    """(texts, d), from beside the corpus when they were made before."""
    key = json.dumps([encoder.recipe.as_dict(), texts], sort_keys=True)
    name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    file = folder / "evaluation" / f"{name}.npy"
    try:
        kept: FloatArray = np.load(file, allow_pickle=False)
        if kept.shape == (len(texts), encoder.recipe.dimension):
            return kept
    except (OSError, ValueError, EOFError):  # not made yet, or damaged: it is made anew
        pass
    vectors = _encode(texts, encoder)
    file.parent.mkdir(parents=True, exist_ok=True)
    np.save(file, vectors)
    drop_older(file.parent)
    return vectors


def _encode(texts: Sequence[str], encoder: Encoder) -> FloatArray:
    """(texts, d), texts of like length together."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    parts = [order[at : at + QUERIES_AT_ONCE] for at in range(0, len(order), QUERIES_AT_ONCE)]
    vectors = np.zeros((len(texts), encoder.recipe.dimension), np.float32)
    with counted(parts, doing="Encoding queries") as steps:
        for part in steps:
            vectors[part] = encoder.encode_queries([texts[number] for number in part])
    return vectors
