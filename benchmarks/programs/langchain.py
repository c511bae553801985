"""LangChain: its FAISS vector store over its wrapper of sentence-transformers."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.program import BEST, Job, Search, main


def _store() -> tuple[Any, Any]:
    from langchain_community.vectorstores import FAISS
    from langchain_huggingface import HuggingFaceEmbeddings

    return FAISS, HuggingFaceEmbeddings


def index(job: Job) -> None:
    """A saved store."""
    store, embeddings = _store()
    texts = [each.text for each in job.texts]
    documents = [{"document": each.document} for each in job.texts]
    made = store.from_texts(texts, embeddings(model_name=job.encoder), documents)
    made.save_local(str(job.folder))


def load(job: Job) -> Search:
    """The nearest passages; it keeps texts as a pickle, which is this program's own here."""
    store, embeddings = _store()
    found = store.load_local(
        str(job.folder),
        embeddings(model_name=job.encoder),
        allow_dangerous_deserialization=True,
    )
    return lambda question: [
        each.metadata["document"] for each in found.similarity_search(question, k=BEST)
    ]


if __name__ == "__main__":
    main(index, load)
