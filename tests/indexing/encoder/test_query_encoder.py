"""Queries through the graph, beside the encoder that it was exported from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.pooling import FloatArray, unit
from indexing.encoder.query_encoder import QueryEncoder, TokenVectors, query_encoder
from indexing.encoder.settings import EncoderSettings
from indexing.models.files import encoder_weights
from indexing.models.graphs.graph import Graph
from tests.indexing.encoder.test_encoder import copy_of

TEXTS = [
    "Why was the budget cut?", "", "x", "stop [SEP] go", "\ud800 probe", "naïve Ärger — 你好。",
    "word " * 900, "What did they say of the ferry, and who paid for it in the end?", "budget",
]  # fmt: skip


def through_graph(encoder: Encoder) -> QueryEncoder:
    found = query_encoder(encoder.fingerprint)
    assert found is not None
    return found


def test_vectors_are_those_of_the_encoder(encoder: Encoder) -> None:
    graph = through_graph(encoder)
    vectors = graph.encode_queries(TEXTS)
    np.testing.assert_allclose(vectors, encoder.encode_queries(TEXTS), atol=1e-5)
    np.testing.assert_allclose(graph.encode_queries(TEXTS[::-1])[::-1], vectors, atol=1e-6)
    assert graph.encode_queries([]).shape == (0, 384)


def test_other_vectors_than_the_encoders_are_left_to_it(encoder: Encoder) -> None:
    of = encoder.fingerprint
    for other in (
        replace(of, extension="gp"),
        replace(of, revision="another"),
        replace(of, dimension=7),
        replace(of, pooling="cls"),
        replace(of, model="/nowhere"),
    ):
        assert query_encoder(other) is None


def test_a_prompt_that_is_not_pooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    own = copy_of(encoder_weights().folder, tmp_path / "model")
    prompts = {"query": "Represent the question: ", "document": "Represent the text: "}
    (own / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    pooling = json.loads((own / "1_Pooling" / "config.json").read_text())
    (own / "1_Pooling" / "config.json").write_text(json.dumps({**pooling, "include_prompt": False}))
    model = Encoder(EncoderSettings(model=str(own), dtype="float32"))
    vectors = through_graph(model).encode_queries(TEXTS)
    np.testing.assert_allclose(vectors, model.encode_queries(TEXTS), atol=1e-5)


def test_words_of_one_token_are_encoded_once_on_a_machine(encoder: Encoder, tmp_path: Path) -> None:
    first = through_graph(encoder)
    first = replace(first, singles=TokenVectors(tmp_path / "tokens.f32", 384))
    words = ["budget", "ferry", "the", "budget"]
    vectors = first.encode_queries([*words, "Why was the budget cut?", "zygomorphic"])
    without_a_model = replace(first, graph=Graph({}, None, tmp_path / "gone"))
    np.testing.assert_allclose(without_a_model.encode_queries(words), vectors[:4], atol=1e-6)
    np.testing.assert_allclose(encoder.encode_queries(words), vectors[:4], atol=1e-5)
    with pytest.raises(AttributeError):  # there is no model for the rest
        without_a_model.encode_queries(["zygomorphic"])


def test_many_texts_are_encoded_as_few_are(encoder: Encoder, tmp_path: Path) -> None:
    graph = replace(through_graph(encoder), singles=TokenVectors(tmp_path / "no" / "file", 384))
    texts = [f"Sentence {i} tells of thing {'very ' * (i % 7)}{i * 7}." for i in range(120)]
    few = np.concatenate([graph.encode_queries(texts[at : at + 8]) for at in range(0, 120, 8)])
    np.testing.assert_allclose(graph.encode_queries(texts), few, atol=1e-6)
    gone = replace(graph, graph=replace(graph.graph, file=tmp_path / "gone"))
    np.testing.assert_allclose(gone.encode_queries(texts), few, atol=1e-6)


TOKENS = [7, 3, 900, 12]


def vectors() -> FloatArray:
    return unit(np.random.default_rng(5).standard_normal((len(TOKENS), 8)))


@pytest.fixture
def kept(tmp_path: Path) -> TokenVectors:
    made = TokenVectors(tmp_path / "tokens.f32", 8)
    made.keep(TOKENS[:2], vectors()[:2])
    made.keep(TOKENS[2:], vectors()[2:])
    return made


def test_what_was_kept_is_found_to_the_last_bit(kept: TokenVectors) -> None:
    again = TokenVectors(kept.path, 8)
    np.testing.assert_array_equal(again.find([12, 7, 900, 3]), vectors()[[3, 0, 2, 1]])
    assert not again.find([0, 8, 899, 901, 30_000]).any()
    assert again.find([]).shape == (0, 8)


def test_a_row_that_was_half_written_is_not_there(kept: TokenVectors) -> None:
    with kept.path.open("r+b") as file:
        file.seek(7 * 32)
        file.write(bytes(16))
        file.seek(3 * 32)
        file.write(np.full(8, np.nan, "<f4").tobytes())
        file.truncate(900 * 32 + 20)
    found = kept.find(TOKENS)
    np.testing.assert_array_equal(found[3], vectors()[3])
    assert not found[:3].any()
    kept.keep(TOKENS, vectors())
    np.testing.assert_array_equal(kept.find(TOKENS), vectors())


def test_where_nothing_can_be_written_nothing_is_there(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for path in (tmp_path / "no" / "folder", tmp_path, tmp_path / "empty"):
        absent = TokenVectors(path, 8)
        assert not absent.find(TOKENS).any()
        if path.name != "empty":
            absent.keep(TOKENS, vectors())
            assert not absent.find(TOKENS).any()
