"""An encoder behind a server: vectors in any order, passages by themselves, failures said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.request import AskRequest
from indexing.documents import Passage
from indexing.encoder.encoder import Encoder
from indexing.encoder.server_encoder import ServerEncoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import ServerFailed
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from tests.json_server import json_server

TEXT = "The ferry sails at nine. The budget was cut in May."
PASSAGES = [Passage(0, 24), Passage(25, len(TEXT))]


def embeddings(encoder: Encoder) -> Callable[[dict[str, Any]], tuple[int, Any]]:
    """What a server answers that has the packaged encoder, its rows not in order, not of unit
    length.
    """

    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        vectors = 3 * encoder.encode_queries(body["input"])
        rows = [{"index": i, "embedding": each.tolist()} for i, each in enumerate(vectors)]
        return 200, {"object": "list", "data": rows[::-1]}

    return reply


def test_vectors_are_the_servers(encoder: Encoder) -> None:
    with json_server(embeddings(encoder)) as (url, asked):
        remote = ServerEncoder(EncoderSettings(f"openai:{url}#small"), key="secret")
        (encoded,) = remote.encode([(document(TEXT, name="a"), PASSAGES)])
        texts = [f"text {i}" for i in range(40)]
        queries = remote.encode_queries(texts)
    parts = encoder.encode_queries([TEXT[each.start : each.end] for each in PASSAGES])
    np.testing.assert_allclose(encoded.passages, parts, atol=1e-5)
    mean = parts.mean(0)
    np.testing.assert_allclose(encoded.vector, mean / np.linalg.norm(mean), atol=1e-5)
    np.testing.assert_allclose(queries, encoder.encode_queries(texts), atol=1e-5)
    assert remote.fingerprint.dimension == 384
    path, key, body = asked[1]
    assert (path, key, body["model"]) == ("/v1/embeddings", "Bearer secret", "small")
    assert [len(each[2]["input"]) for each in asked[2:]] == [32, 8]


def test_a_corpus_is_indexed_and_asked_through_a_server(encoder: Encoder, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(TEXT, "utf-8")
    with json_server(embeddings(encoder)) as (url, _):
        settings = EncoderSettings(f"openai:{url}#small")
        with Corpus(tmp_path / "corpus", encoder=settings) as corpus:
            corpus.add([file])
        with Corpus(tmp_path / "corpus") as corpus:  # finds the server by the corpus's own record
            assert corpus.search("When does the ferry sail?")[0].title
            answer = corpus.answer(AskRequest("When does the ferry sail?", "quote"))
        assert "ferry sails at nine" in answer.text
    with Corpus(tmp_path / "corpus") as corpus, pytest.raises(ServerFailed, match="/embeddings"):
        corpus.search("When does the ferry sail?")


@pytest.mark.parametrize(
    ("status", "values"),
    [
        (200, {"data": [{"index": 0}]}),
        (200, {"data": []}),
        (200, {"data": [{"index": 0, "embedding": [float("nan")]}]}),
        (200, {"data": [{"index": 0, "embedding": 1.0}]}),
        (200, []),
        (404, {}),
    ],
)
def test_another_answer_is_refused(status: int, values: Any) -> None:
    with json_server(lambda _: (status, values)) as (url, _), pytest.raises(ServerFailed):
        ServerEncoder(EncoderSettings(f"openai:{url}#small"), key="")
