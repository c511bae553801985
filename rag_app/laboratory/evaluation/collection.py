"""The documents of a task as a corpus that is encoded once, and scores of all of them for a query.

A corpus is reused when it has the encoder's fingerprint and holds nothing but documents of the
task; so a second evaluation, or one that was killed, encodes only what is missing. The vectors of
the queries are stored beside it. `rag-app evaluate clear` removes those in the cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.errors import CorpusError
from indexing.store.store import FILE_NAME, Store
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.task import Task
from rag_app.laboratory.evaluation import metrics
from rag_app.laboratory.evaluation.cache_files import drop_oldest, evaluation_cache
from rag_app.progress import track
from retriever.fusion import RANKINGS
from retriever.query import Query
from retriever.retriever import Retriever

FloatArray = npt.NDArray[np.float32]

QUERY_BATCH = 256


@dataclass(frozen=True)
class Collection:
    """A task's documents, ready to be ranked.

    Attributes:
        task: The task.
        retriever: Over exactly its documents.
        positions: (documents,) where each document of the task stands in the retriever's scores.
        encoded: Documents that had to be encoded now.
        seconds: Time to encode them, indexing of words included.
    """

    task: Task
    retriever: Retriever
    positions: npt.NDArray[np.int64]
    encoded: int
    seconds: float

    def scores(self, query: str) -> FloatArray:
        """(documents,) how well each document of the task answers a query."""
        return self.retriever.score(Query.of(query)).documents[self.positions]

    def ranks(self) -> list[int]:
        """The rank of the document that each query of the task asks for, 1 for the best."""
        with track(self.task.queries, doing="Ranking") as queries:
            return [metrics.rank(self.scores(query.text), query.gold) for query in queries]


@contextmanager
def open_collection(
    task: Task,
    *,
    encoder: Encoder,
    ranking: str,
    folder: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> Iterator[Collection]:
    """Open the documents of a task; those that are not encoded yet are.

    Args:
        task: What is ranked. All its queries are encoded first, in batches.
        encoder: How documents and queries are encoded.
        ranking: A name from `retriever.fusion.RANKINGS`.
        folder: A corpus to use or create; None for one in the user's cache folder.
        notify: Told when the folder holds another corpus, which is then not touched.
    """
    place = _place(task, encoder.fingerprint, folder, notify)
    started = perf_counter()
    with Corpus(place, encoder=encoder) as corpus:
        digests, _ = _stored(place)
        missing = [one for one in task.documents if one.digest not in digests]
        if missing:
            with track(missing, doing="Encoding documents", then="Indexing words") as steps:
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
    task: Task, fingerprint: Fingerprint, folder: Path | None, notify: Callable[[str], None] | None
) -> Path:
    """The folder asked for, unless it holds something else; then one in the cache."""
    if folder is not None and _fits(folder, task, fingerprint):
        return folder
    key = json.dumps([fingerprint.as_dict(), task.digest], sort_keys=True)
    name = f"{task.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    cached = evaluation_cache() / name
    if folder is not None and notify:
        notify(
            f"{folder} holds other documents, or vectors made in another way; it stays as it is, "
            f"and this evaluation uses {cached}"
        )
    return cached


def _fits(folder: Path, task: Task, fingerprint: Fingerprint) -> bool:
    """Whether a folder is empty, or holds only documents of the task with this fingerprint."""
    try:
        digests, stored = _stored(folder)
    except CorpusError:
        return False
    return stored in (None, fingerprint) and digests <= {one.digest for one in task.documents}


def _stored(folder: Path) -> tuple[set[str], Fingerprint | None]:
    """Digests of the documents that a corpus holds, if any, and the fingerprint of its vectors."""
    if not (folder / FILE_NAME).exists():
        return set(), None
    with closing(Store(folder)) as store:
        return set(store.digests()), store.fingerprint()


def _positions(documents: Sequence[Document], retriever: Retriever) -> npt.NDArray[np.int64]:
    """(documents,) positions of documents in a retriever's scores, matched by digest."""
    rows = {id_: row for row, id_, *_ in retriever.store.document_rows()}
    ids = {digest: id_ for digest, (id_, _) in retriever.store.digests().items()}
    document_rows = np.array([rows[ids[document.digest]] for document in documents], np.int64)
    return np.searchsorted(retriever.snapshot.document_rows, document_rows)


def _is_dense(ranking: str) -> bool:
    features = RANKINGS[ranking]
    return any(name.startswith("dense") for name in (*features.documents, *features.passages))


def _embedder(
    task: Task, encoder: Encoder, folder: Path, *, dense: bool
) -> Callable[[Sequence[str]], FloatArray]:
    """Query vectors by look-up; zeros for a ranking that does not use them."""
    if not dense:
        return lambda texts: np.zeros((len(texts), encoder.fingerprint.dimension), np.float32)
    queries = [Query.of(query.text) for query in task.queries]
    texts = sorted({text for query in queries for text in (query.text, *query.sentences)})
    vectors = _query_vectors(texts, encoder, folder)
    row = {text: number for number, text in enumerate(texts)}
    return lambda queries: vectors[[row[text] for text in queries]]


def _query_vectors(texts: Sequence[str], encoder: Encoder, folder: Path) -> FloatArray:
    """(texts, d), from the file beside the corpus if there is one."""
    key = json.dumps([encoder.fingerprint.as_dict(), texts], sort_keys=True)
    name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    file = folder / "evaluation" / f"{name}.npy"
    try:
        cached: FloatArray = np.load(file, allow_pickle=False)
        if cached.shape == (len(texts), encoder.fingerprint.dimension):
            return cached
    except (OSError, ValueError, EOFError):  # missing or damaged: encode again
        pass
    vectors = _encode(texts, encoder)
    file.parent.mkdir(parents=True, exist_ok=True)
    np.save(file, vectors)
    drop_oldest(file.parent)
    return vectors


def _encode(texts: Sequence[str], encoder: Encoder) -> FloatArray:
    """(texts, d), encoded in batches of similar length."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    parts = [order[at : at + QUERY_BATCH] for at in range(0, len(order), QUERY_BATCH)]
    vectors = np.zeros((len(texts), encoder.fingerprint.dimension), np.float32)
    with track(parts, doing="Encoding queries") as steps:
        for part in steps:
            vectors[part] = encoder.encode_queries([texts[number] for number in part])
    return vectors
