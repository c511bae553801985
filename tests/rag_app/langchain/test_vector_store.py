"""The vector store, by LangChain's own tests with its embeddings and with ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from indexing.encoder.encoder import Encoder
from indexing.errors import EncoderMismatch, InvalidRequest
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.langchain import RagAppEmbeddings, RagAppRetriever, RagAppVectorStore

SUBJECTS = ("tea", "ice", "rope", "salt", "wool", "tin")
TEXTS = [f"Note {number} is about {subject}." for number, subject in enumerate(SUBJECTS)]


def fake(size: int = 6) -> Embeddings:
    return DeterministicFakeEmbedding(size=size)


class TestForeignEmbeddings(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        with Corpus(tmp_path / "corpus") as corpus:
            yield RagAppVectorStore(self.get_embeddings(), corpus=corpus)


class TestOwnEmbeddings(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path, encoder: Encoder) -> Iterator[VectorStore]:
        with Corpus(tmp_path / "corpus") as corpus:
            yield RagAppVectorStore(RagAppEmbeddings(encoder), corpus=corpus)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RagAppVectorStore]:
    """Six notes; not to be changed."""
    about = [{"number": i, "even": i % 2 == 0} for i in range(len(TEXTS))]
    folder = tmp_path_factory.mktemp("notes")
    store = RagAppVectorStore.from_texts(TEXTS, fake(), about, ids=list("abcdef"), corpus=folder)
    yield store
    store.corpus.close()


def oracle() -> InMemoryVectorStore:
    """LangChain's own store with the same notes: a naive loop over cosines."""
    about = [{"number": i, "even": i % 2 == 0} for i in range(len(TEXTS))]
    return InMemoryVectorStore.from_texts(TEXTS, fake(), about, ids=list("abcdef"))


@pytest.mark.parametrize("k", [1, 4, 6, 50])
def test_scores_are_those_of_a_naive_loop(filled: RagAppVectorStore, k: int) -> None:
    found = filled.similarity_search_with_score("tea", k)
    expected = oracle().similarity_search_with_score("tea", k)
    assert [one for one, _ in found] == [one for one, _ in expected]
    np.testing.assert_allclose([s for _, s in found], [s for _, s in expected], atol=1e-6)


def even(document: Document) -> bool:
    return bool(document.metadata["even"])


@pytest.mark.parametrize("condition", [{"even": True}, {"number": [0, 2, 4, 17]}, even])
def test_filters_limit_before_the_best_are_taken(filled: RagAppVectorStore, condition: Any) -> None:
    found = filled.similarity_search_with_score("ice", 2, filter=condition)
    expected = oracle().similarity_search_with_score("ice", 2, filter=even)
    assert [one for one, _ in found] == [one for one, _ in expected]


def test_nothing_fits_a_filter_by_a_key_that_is_not_there(filled: RagAppVectorStore) -> None:
    assert filled.similarity_search("ice", filter={"colour": None}) == []


@pytest.mark.parametrize("wish", [0.0, 0.3, 1.0])
def test_marginal_relevance_is_that_of_langchain(filled: RagAppVectorStore, wish: float) -> None:
    found = filled.max_marginal_relevance_search("salt", k=3, fetch_k=5, lambda_mult=wish)
    expected = oracle().max_marginal_relevance_search("salt", k=3, fetch_k=5, lambda_mult=wish)
    assert [one.id for one in found] == [one.id for one in expected]


async def test_threads_find_the_same(filled: RagAppVectorStore) -> None:
    condition = {"even": False}
    assert await filled.asimilarity_search("tin", 2, filter=condition) == filled.similarity_search(
        "tin", 2, filter=condition
    )
    assert await filled.amax_marginal_relevance_search("tin", 2) == (
        filled.max_marginal_relevance_search("tin", 2)
    )
    vector = fake().embed_query("tin")
    assert await filled.asimilarity_search_by_vector(vector, 2) == filled.similarity_search(
        "tin", 2
    )


def test_relevance_is_between_zero_and_one(
    filled: RagAppVectorStore, recwarn: pytest.WarningsRecorder
) -> None:
    (best, *_) = found = filled.similarity_search_with_relevance_scores(TEXTS[3], 6)
    assert best[0].id == "d" and best[1] == pytest.approx(1)
    assert min(score for _, score in found) == 0.0
    retriever = filled.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.99}
    )
    assert [one.id for one in retriever.invoke(TEXTS[3])] == ["d"]
    assert not recwarn.list


def test_another_process_reads_what_was_written(tmp_path: Path) -> None:
    metadata = {"nested": {"list": [1, 2.5, None, "ü"]}, "yes": True}
    text = "Line one\r\n\ttabbed \U0001f600 "
    RagAppVectorStore(fake(), corpus=tmp_path).add_texts([text], [metadata], ids=["x"])
    program = (
        "from langchain_core.embeddings import DeterministicFakeEmbedding as E\n"
        "from rag_app.langchain import RagAppVectorStore as S\n"
        f"(one,) = S(E(size=6), corpus={str(tmp_path)!r}).get_by_ids(['no', 'x'])\n"
        "print(ascii((one.page_content, one.metadata)))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ascii((text, metadata))
    assert not list(tmp_path.rglob("*.pkl"))


def test_no_ids_delete_everything(tmp_path: Path) -> None:
    store = RagAppVectorStore.from_texts(TEXTS, fake(), corpus=tmp_path)
    assert len(store.similarity_search("tea", 10)) == 6
    assert store.delete()
    assert store.similarity_search("tea", 10) == []
    store.add_texts(["tea"])
    assert [one.page_content for one in store.similarity_search("tea", 10)] == ["tea"]


def test_what_is_stored_here_is_searched_and_asked_as_a_corpus(
    tmp_path: Path, encoder: Encoder
) -> None:
    with Corpus(tmp_path, encoder=encoder) as corpus:
        store = RagAppVectorStore(RagAppEmbeddings(encoder), corpus=corpus)
        said = (
            "Ida: The valve is made of brass.\n\nOlaf: Then it may touch sea water.\n\n"
            "Ida: It has done so for a year.\n\nOlaf: Nobody told me that."
        )
        store.add_texts([said, "The roof leaks."], [{"title": "Valves"}, {}], ids=["v", "r"])
        (hit, *_) = corpus.search("What is the valve made of?")
        assert (hit.document, hit.title) == ("v", "Valves")
        (citation, *_) = corpus.ask("What is the valve made of?").citations
        assert (citation.quote, citation.speaker) == ("The valve is made of brass.", "Ida")
        (best, *_) = RagAppRetriever(corpus=corpus, k=1).invoke("Does the roof leak?")
        assert best.page_content == "The roof leaks."


def test_documents_of_files_are_found_as_wholes(samples_corpus: Corpus) -> None:
    store = RagAppVectorStore(corpus=samples_corpus)
    (best, *_) = store.similarity_search("final launch date of Heron", filter={"part": ""})
    document = samples_corpus.document(best.id or "")
    assert best.page_content == document.text
    assert best.metadata == {"source": document.path, "part": "", "title": document.title}
    only = {"title": document.title}
    assert store.similarity_search("anything", 9, filter=only) == [best]


def test_vectors_of_two_embeddings_never_mix(tmp_path: Path, encoder: Encoder) -> None:
    store = RagAppVectorStore.from_texts(["tea"], fake(), corpus=tmp_path)
    for other in (fake(7), RagAppEmbeddings(encoder)):
        stranger = RagAppVectorStore(other, corpus=tmp_path)
        with pytest.raises(EncoderMismatch, match="give the embeddings that made them"):
            stranger.add_texts(["coffee"])
        with pytest.raises(EncoderMismatch, match="DeterministicFakeEmbedding"):
            stranger.similarity_search("tea")
    assert [one.page_content for one in store.similarity_search("tea")] == ["tea"]


def test_a_store_of_other_embeddings_says_how_to_open_it(tmp_path: Path, encoder: Encoder) -> None:
    RagAppVectorStore.from_texts(["The valve is made of brass."], fake(), corpus=tmp_path)
    asked = ("search", "valve"), ("ask", "What is the valve made of?"), ("index", __file__)
    for command in asked:
        done = CliRunner().invoke(main, [*command, "--corpus", str(tmp_path)])
        assert done.exit_code == 1
        assert "made in Python with langchain_core.embeddings.fake.DeterministicFake" in done.stderr
        assert "RagAppVectorStore(embeddings, corpus=...)" in done.stderr
        assert f"rag-app index --reencode --corpus {tmp_path}" in done.stderr
    assert CliRunner().invoke(main, ["list", "--corpus", str(tmp_path)]).exit_code == 0
    with Corpus(tmp_path, encoder=encoder) as corpus:
        assert corpus.reencode() == 1
        assert corpus.ask("What is the valve made of?").citations


@pytest.mark.parametrize(
    "metadata", [{"when": object()}, {1: "one"}, {"pair": (1, 2)}, {"nan": float("nan")}]
)
def test_metadata_that_would_not_come_back_is_refused(
    tmp_path: Path, metadata: dict[Any, Any]
) -> None:
    store = RagAppVectorStore(fake(), corpus=tmp_path)
    with pytest.raises(InvalidRequest, match="does not survive JSON"):
        store.add_texts(["fine", "bad"], [{}, metadata])
    assert store.similarity_search("fine") == []


def test_lists_of_different_lengths_are_refused(tmp_path: Path) -> None:
    store = RagAppVectorStore(fake(), corpus=tmp_path)
    with pytest.raises(InvalidRequest, match="2 texts, 1 metadatas, 2 ids"):
        store.add_texts(["a", "b"], [{}])
    with pytest.raises(InvalidRequest, match="k is 0; it must be at least 1"):
        store.similarity_search("a", 0)
    assert store.add_texts([]) == []


@pytest.mark.parametrize("text", ["", "...", "nul \0 and \udcff"])
def test_any_text_can_be_stored(tmp_path: Path, encoder: Encoder, text: str) -> None:
    for folder, embedding in (("own", RagAppEmbeddings(encoder)), ("fake", fake())):
        store = RagAppVectorStore(embedding, corpus=tmp_path / folder)
        store.add_texts([text, "Something else."], ids=["one", "two"])
        (one,) = store.get_by_ids(["one"])
        assert one.page_content == text.replace("\0", "\ufffd").replace("\udcff", "\ufffd")
        assert len(store.similarity_search("Something")) == 2
