"""A LangChain vector store: texts and vectors in a corpus (SQLite, FAISS; no pickle)."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance

from indexing.documents import Document as CorpusDocument
from indexing.documents import Passage
from indexing.encoder.fingerprint import FOREIGN, Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import CorpusNotFound, EncoderMismatch, InvalidRequest
from indexing.loaders.charset import printable
from indexing.store.store import FILE_NAME, Store
from indexing.text.chunking import split
from indexing.text.transcripts import find_utterances
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.shards.parts import CorpusView
from rag_app.langchain.embeddings import RagAppEmbeddings

FloatArray = npt.NDArray[np.float32]
Condition = Mapping[str, object] | Callable[[Document], bool]

FORMAT = "langchain"
TITLE = 200  # characters


class RagAppVectorStore(VectorStore):
    """A vector store that is a corpus.

    With `RagAppEmbeddings`, its texts can also be searched and asked by `RagAppRetriever`, `Corpus`
    and `rag-app ask --corpus`. With other embeddings it is a vector store only, and everything else
    refuses its vectors. Documents indexed from files are returned whole.

    Similarity is the cosine, 1 for the same direction. The asynchronous methods do the same in a
    thread.

    `filter` is a mapping or a function. A mapping admits documents whose metadata has these values;
    a list of values admits each of them. A function is called with the document.

    Args:
        embedding: The embeddings; None takes `RagAppEmbeddings()`.
        corpus: The corpus or its folder; None as in `Corpus`.
    """

    def __init__(
        self, embedding: Embeddings | None = None, *, corpus: Corpus | str | Path | None = None
    ) -> None:
        self.corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
        self._embedding = embedding or RagAppEmbeddings()
        self._lock = threading.Lock()

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        corpus: Corpus | str | Path | None = None,
        **_: object,
    ) -> RagAppVectorStore:
        """A store with these texts in it; arguments as in the constructor and `add_texts`."""
        store = cls(embedding, corpus=corpus)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @property
    def embeddings(self) -> Embeddings:
        """The embeddings."""
        return self._embedding

    # Writing

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **_: object,
    ) -> list[str]:
        """Add texts, or replace those with the same ids; the ids of all, in order.

        Raises:
            InvalidRequest: The lists differ in length, or metadata that JSON cannot hold.
            EncoderMismatch: The corpus holds vectors of other embeddings.
            CorpusLocked: Another process is writing.
        """
        text_list = list(texts)
        about: Sequence[dict[str, Any]] = metadatas or [{} for _ in text_list]
        names = [name or str(uuid.uuid4()) for name in ids or [None] * len(text_list)]
        if not len(text_list) == len(about) == len(names):
            raise InvalidRequest(
                f"{len(text_list)} texts, {len(about)} metadatas, {len(names)} ids; "
                "give the same number of each"
            )
        documents = [_to_corpus_document(*one) for one in zip(names, text_list, about, strict=True)]
        if documents:
            self._put(documents)
        return names

    def delete(self, ids: list[str] | None = None, **_: object) -> bool:
        """Delete texts by id, or all of them; unknown ids are ignored. Returns True."""
        if (self.corpus.folder / FILE_NAME).exists():
            with self._lock, self.corpus.writing() as store:
                store.remove([entry.id for entry in store.identities()] if ids is None else ids)
        return True

    def _put(self, documents: list[CorpusDocument]) -> None:
        passages = [split(one) or [Passage(0, len(one.text))] for one in documents]
        encoded = self._encode(documents, passages)
        fingerprint = self._fingerprint(len(encoded[0].vector))
        added = datetime.now(UTC).isoformat(timespec="seconds")
        with self._lock, self.corpus.writing() as store:
            self._check(store, fingerprint)
            store.set_fingerprint(fingerprint)
            for one, spans, vectors in zip(documents, passages, encoded, strict=True):
                store.put(one, spans, vectors, added=added)

    def _encode(
        self, documents: list[CorpusDocument], passages: list[list[Passage]]
    ) -> list[EncodedDocument]:
        """Vectors of documents; of passages as well if the embeddings are `RagAppEmbeddings`."""
        if isinstance(self._embedding, RagAppEmbeddings):
            return self._embedding.encoder.encode(list(zip(documents, passages, strict=True)))
        vectors = self._embedding.embed_documents([one.text for one in documents])
        return [
            EncodedDocument(
                vector=(unit := _unit(vector)),
                passages=np.tile(unit, (len(spans), 1)),
                tokens=(words := len(one.text.split())),
                encoded=words,
            )
            for one, spans, vector in zip(documents, passages, vectors, strict=True)
        ]

    # Reading

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Documents by id, in order, without unknown ids."""
        with self._existing() as now:
            if now is None:
                return []
            known = (id_ for id_ in ids if now.store.digest(id_) is not None)
            return [_to_langchain(now.store.document(id_)) for id_ in known]

    def similarity_search(
        self, query: str, k: int = 4, *, filter: Condition | None = None, **_: object
    ) -> list[Document]:
        """The k documents most similar to a text, best first."""
        return [one for one, _ in self.similarity_search_with_score(query, k, filter=filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Condition | None = None, **_: object
    ) -> list[tuple[Document, float]]:
        """The k documents most similar to a text, each with its cosine."""
        return self.similarity_search_with_score_by_vector(
            self._embedding.embed_query(query), k, filter=filter
        )

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Condition | None = None, **_: object
    ) -> list[Document]:
        """The k documents nearest to a vector, best first."""
        nearest = self.similarity_search_with_score_by_vector(embedding, k, filter=filter)
        return [one for one, _ in nearest]

    def similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Condition | None = None
    ) -> list[tuple[Document, float]]:
        """The k documents nearest to a vector, each with its cosine."""
        return [(one, score) for one, score, _ in self._nearest(embedding, k, filter)]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Condition | None = None,
        **_: object,
    ) -> list[Document]:
        """Documents that are similar to a text and not to each other, as in the method below."""
        return self.max_marginal_relevance_search_by_vector(
            self._embedding.embed_query(query), k, fetch_k, lambda_mult, filter=filter
        )

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Condition | None = None,
        **_: object,
    ) -> list[Document]:
        """Of the `fetch_k` nearest the k best by maximal marginal relevance.

        Args:
            embedding: What to be near to.
            k: How many, at most.
            fetch_k: How many to choose from.
            lambda_mult: From 0 for as different as can be to 1 for as near as can be.
            filter: As in the class.
        """
        nearest = self._nearest(embedding, max(k, fetch_k), filter)
        vectors = [vector.tolist() for _, _, vector in nearest]
        selection = maximal_marginal_relevance(_unit(embedding), vectors, lambda_mult, k)
        return [nearest[i][0] for i in selection]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: min(max(cosine, 0.0), 1.0)

    def _nearest(
        self, embedding: list[float], k: int, condition: Condition | None
    ) -> list[tuple[Document, float, FloatArray]]:
        """The k nearest documents, best first, their cosines and vectors."""
        if k < 1:
            raise InvalidRequest(f"k is {k}; it must be at least 1")
        with self._existing() as now:
            if now is None or not len(now.snapshot.document_rows):
                return []
            self._check(now.store, self._fingerprint(len(embedding)))
            index = now.snapshot.document_vectors
            allowed = None if condition is None else _allowed(now, condition)
            scores, positions = index.search(_unit(embedding)[None], k, allowed=allowed)
            good = positions[0] >= 0
            at = positions[0][good]
            names = now.store.documents_at(now.snapshot.document_rows[at].tolist())
            documents = [_to_langchain(now.store.document(name.id)) for name in names]
            return list(zip(documents, scores[0][good].tolist(), list(index.at(at)), strict=True))

    @contextmanager
    def _existing(self) -> Iterator[CorpusView | None]:
        """The corpus as it is now; None before the first text."""
        with ExitStack() as stack:
            try:
                now = stack.enter_context(self.corpus.reading())
            except CorpusNotFound:
                yield None
                return
            yield now

    def _fingerprint(self, dimension: int) -> Fingerprint:
        """How the vectors are made, which must not change within a corpus."""
        if isinstance(self._embedding, RagAppEmbeddings):
            return self._embedding.encoder.fingerprint
        kind = type(self._embedding)
        named = (getattr(self._embedding, name, None) for name in ("model", "model_name"))
        model = next((f" {name}" for name in named if isinstance(name, str)), "")
        return Fingerprint(
            model=f"{FOREIGN}{kind.__module__}.{kind.__qualname__}{model}",
            revision="",
            extension="none",
            max_length=0,
            pooling="",
            dtype="float32",
            dimension=dimension,
        )

    def _check(self, store: Store, fingerprint: Fingerprint) -> None:
        stored = store.fingerprint()
        if stored is not None and stored != fingerprint:
            raise EncoderMismatch(
                f"{self.corpus.folder}: its vectors were made by {stored.model} "
                f"({stored.extension}, {stored.dimension} numbers), not by "
                f"{fingerprint.model} ({fingerprint.extension}, {fingerprint.dimension}); give "
                "the embeddings that made them, or another folder"
            )


def _to_corpus_document(id_: str, text: str, metadata: dict[str, Any]) -> CorpusDocument:
    """A text as a document of a corpus."""
    text = printable(text)
    if printable(id_) != id_:
        raise InvalidRequest(f"{id_!r} cannot be an id; remove NUL and lone surrogates")
    title = printable(str(metadata.get("title") or metadata.get("source") or id_))
    return CorpusDocument(
        id=id_,
        path=f"{FORMAT}:{id_}",
        part="",
        title=title[:TITLE],
        format=FORMAT,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
        utterances=find_utterances(text),
        metadata=_as_json(id_, metadata),
    )


def _as_json(id_: str, metadata: dict[str, Any]) -> str:
    """Metadata as JSON from which it comes back as it is."""
    try:
        text = json.dumps(metadata)
        same = json.loads(text) == metadata
    except (TypeError, ValueError):
        same = False
    if not same:
        raise InvalidRequest(
            f"the metadata of {id_} does not survive JSON; use strings, numbers, lists, and "
            "mappings with strings as keys"
        )
    return text


def _to_langchain(document: CorpusDocument) -> Document:
    metadata = _metadata(document.metadata, document.path, document.part, document.title)
    return Document(id=document.id, page_content=document.text, metadata=metadata)


def _metadata(notes: str, path: str, part: str, title: str) -> dict[str, Any]:
    """The metadata of a text, or the source of a document from a file."""
    if not notes:
        return {"source": path, "part": part, "title": title}
    metadata: dict[str, Any] = json.loads(notes)
    return metadata


def _allowed(now: CorpusView, condition: Condition) -> npt.NDArray[np.bool_]:
    """(documents,) which of them a filter admits, by position in the index."""
    rows = now.store.document_rows()
    if callable(condition):
        admitted = [condition(_to_langchain(now.store.document(id_))) for _, id_, *_ in rows]
    else:
        admitted = [
            _fits(_metadata(notes, path, part, title), condition)
            for (_, notes), (_, _, path, part, title) in zip(
                now.store.metadata(), rows, strict=True
            )
        ]
    some = [row for (row, *_), good in zip(rows, admitted, strict=True) if good]
    return np.isin(now.snapshot.document_rows, some)


def _fits(metadata: dict[str, Any], values: Mapping[str, object]) -> bool:
    """Whether metadata has these values; a list stands for any of its values."""
    return all(
        key in metadata
        and (metadata[key] in value if isinstance(value, list) else metadata[key] == value)
        for key, value in values.items()
    )


def _unit(vector: Sequence[float]) -> FloatArray:
    """The vector (d,) at length 1; zeros stay."""
    row = np.asarray(vector, np.float32)
    return np.asarray(row / max(float(np.linalg.norm(row)), 1e-12), np.float32)
