"""The retriever as LangChain's, by LangChain's own tests and beside `Corpus.search`."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from indexing.errors import CorpusNotFound, InvalidRequest
from indexing.filter import Filter
from rag_app.corpus.corpus import Corpus
from rag_app.langchain import RagAppRetriever

QUESTION = "Why was the launch of Heron put off?"


class TestIntegration(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def samples(self, samples_corpus: Corpus) -> None:
        self.corpus = samples_corpus

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return RagAppRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"corpus": self.corpus, "k": 2}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def scores(found: list[Document]) -> list[float]:
    return [document.metadata["score"] for document in found]


def test_the_best_passages_of_all_documents_in_order(samples_corpus: Corpus) -> None:
    hits = samples_corpus.search(QUESTION, k=5, passages=50)
    every = sorted((p.score for hit in hits for p in hit.passages), reverse=True)
    found = RagAppRetriever(corpus=samples_corpus, k=7).invoke(QUESTION)
    assert scores(found) == every[:7]
    assert len({document.metadata["document"] for document in found}) > 1


def test_each_is_a_span_of_its_document(samples_corpus: Corpus) -> None:
    for found in RagAppRetriever(corpus=samples_corpus, k=20).invoke(QUESTION):
        about = found.metadata
        document = samples_corpus.document(about["document"])
        assert document.text[about["start"] : about["end"]] == found.page_content
        assert (about["source"], about["title"]) == (document.path, document.title)
        assert found.id == f"{document.id}:{about['start']}-{about['end']}"


def test_speaker_time_and_page_come_along(samples_corpus: Corpus) -> None:
    retriever = RagAppRetriever(corpus=samples_corpus, k=10)
    (said, *_) = retriever.invoke(QUESTION, where=Filter(speaker="Maren"))
    assert "Maren Osei" in said.metadata["speakers"]
    assert said.metadata["speaker"] in said.metadata["speakers"]
    document = samples_corpus.document(said.metadata["document"])
    assert said.metadata["time"] in {utterance.time for utterance in document.utterances}
    paged = [
        one
        for one in retriever.invoke(QUESTION, where=Filter(path="*.pdf"))
        if one.metadata["page"]
    ]
    assert paged and {one.metadata["source"].rpartition(".")[2] for one in paged} == {"pdf"}


def test_more_passages_than_a_document_has_come_from_others(samples_corpus: Corpus) -> None:
    total = samples_corpus.info().passages
    assert len(RagAppRetriever(corpus=samples_corpus).invoke(QUESTION, k=total + 1)) == total


async def test_a_thread_finds_the_same(samples_corpus: Corpus) -> None:
    retriever = RagAppRetriever(corpus=samples_corpus)
    where = Filter(speaker="Maren")
    assert await retriever.ainvoke(QUESTION, k=3, where=where) == retriever.invoke(
        QUESTION, k=3, where=where
    )
    assert len(await retriever.ainvoke(QUESTION)) == 4


def test_what_cannot_be_asked_is_said(samples_corpus: Corpus, tmp_path: Any) -> None:
    with pytest.raises(InvalidRequest, match="it must be at least 1"):
        RagAppRetriever(corpus=samples_corpus).invoke(QUESTION, k=0)
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        RagAppRetriever(corpus=samples_corpus, k=0)
    with pytest.raises(InvalidRequest):
        RagAppRetriever(corpus=samples_corpus).invoke(" ")
    with pytest.raises(CorpusNotFound):
        RagAppRetriever(corpus=Corpus(tmp_path)).invoke(QUESTION)
