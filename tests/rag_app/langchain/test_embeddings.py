"""The encoder as LangChain's embeddings, by LangChain's own tests and beside the encoder itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import ModelNotFound
from rag_app.corpus.corpus import Corpus
from rag_app.langchain import RagAppEmbeddings


class TestUnit(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return RagAppEmbeddings


class TestIntegration(EmbeddingsIntegrationTests):
    """The encoder is handed over, so that it is loaded once."""

    @property
    def embeddings_class(self) -> type[Embeddings]:
        return RagAppEmbeddings

    @pytest.fixture(autouse=True)
    def loaded(self, encoder: Encoder) -> None:
        self.encoder = encoder

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"encoder": self.encoder}


def test_a_text_gets_the_vector_that_a_corpus_would_keep(
    samples_corpus: Corpus,
) -> None:
    entry = samples_corpus.documents()[0]
    text = samples_corpus.document(entry.id).text
    (vector,) = RagAppEmbeddings().embed_documents([text])
    with samples_corpus.retriever() as retriever:
        kept = retriever.snapshot.document_vectors.at(np.array([0]))[0]
    assert entry.tokens > 2 * 256
    np.testing.assert_array_equal(np.asarray(vector, np.float32), kept)


def test_what_stands_behind_the_first_window_counts(encoder: Encoder) -> None:
    filler = "The committee met on Tuesday and went through the list. " * 20
    embeddings = RagAppEmbeddings(encoder)
    question = np.array(embeddings.embed_query("At what temperature do frogs hibernate?"))
    cut, whole = embeddings.embed_documents([filler, filler + "Frogs hibernate at four degrees."])
    assert question @ np.array(whole) > question @ np.array(cut)
    assert np.linalg.norm(whole) == pytest.approx(1, abs=1e-6)


def test_empty_and_unpaired_text_have_vectors(encoder: Encoder) -> None:
    for vector in RagAppEmbeddings(encoder).embed_documents(["", "\udcff", "..."]):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


async def test_threads_give_the_same_vectors(encoder: Encoder) -> None:
    embeddings = RagAppEmbeddings(encoder)
    texts = ["Who asked for a rubber case?", "A much longer text. " * 50]
    assert await embeddings.aembed_documents(texts) == embeddings.embed_documents(texts)
    assert await embeddings.aembed_query(texts[0]) == embeddings.embed_query(texts[0])


def test_nothing_is_loaded_before_the_first_text() -> None:
    embeddings = RagAppEmbeddings(EncoderSettings(model="no-such-model"))
    with pytest.raises(ModelNotFound):
        embeddings.embed_query("Anyone?")
