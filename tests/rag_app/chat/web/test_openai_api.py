"""The official OpenAI client against a running server."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from generator.answer import NOT_SAID, Answer
from rag_app.chat.web import openai_api
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.programs import OFF_TOPIC, QUESTION, WITH_SHORT
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def client(served: Served) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{served.address}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, *said: str, **more: Any) -> Any:
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return client.chat.completions.create(model="rag-app", messages=messages, **more)


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert {model.id for model in client.models.list()} == {
        "rag-app",
        "rag-app-quote",
        "rag-app-free",
    }


def test_a_completion_is_the_answer_of_the_corpus(
    client: openai.OpenAI, corpus: Corpus, expected: Answer
) -> None:
    reply = ask(client, QUESTION)
    assert reply.choices[0].message.content == expected.text
    assert reply.choices[0].finish_reason == "stop"
    assert len(reply.citations) == len(expected.citations) > 0
    for citation in reply.citations:
        text = corpus.document(citation["document"]).text
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert [entry["kept"] for entry in reply.rag_app["context"]] == [
        entry.kept for entry in expected.context
    ]


def test_a_stream_comes_in_pieces_and_ends_with_the_citations(
    client: openai.OpenAI, expected: Answer
) -> None:
    pieces = list(ask(client, QUESTION, stream=True))
    texts = [piece.choices[0].delta.content or "" for piece in pieces]
    assert "".join(texts) == expected.text
    assert len([text for text in texts if text]) == len(expected.citations) > 1
    assert [piece.choices[0].finish_reason for piece in pieces[:-1]] == [None] * (len(pieces) - 1)
    assert pieces[-1].choices[0].finish_reason == "stop"
    quotes = [citation["quote"] for citation in pieces[-1].citations]
    assert quotes == [citation.quote for citation in expected.citations]


def test_the_short_answer_stands_beside_the_citations() -> None:
    fields = openai_api._extra_fields(WITH_SHORT)
    assert fields["short"] == {
        "marker": 1, "document": "d1", "start": 6, "end": 10, "text": "nine", "probability": 0.75,
    }  # fmt: skip
    assert fields["rag_app"]["probability"] == 0.5 and fields["rag_app"]["closest"] == []


def test_what_the_documents_do_not_say_has_closest_passages(
    client: openai.OpenAI, corpus: Corpus
) -> None:
    reply = ask(client, OFF_TOPIC)
    assert reply.choices[0].message.content == NOT_SAID
    assert reply.citations == [] and reply.short is None
    assert 1 <= len(reply.rag_app["closest"]) <= 3
    for passage in reply.rag_app["closest"]:
        text = corpus.document(passage["document"]).text
        assert text[passage["start"] : passage["end"]] == passage["quote"]


def test_the_threshold_of_abstention_is_the_callers(client: openai.OpenAI) -> None:
    reply = ask(client, OFF_TOPIC, extra_body={"abstain_below": 0})
    assert reply.citations and reply.rag_app["closest"] == []
    with pytest.raises(openai.BadRequestError, match="abstain_below"):
        ask(client, OFF_TOPIC, extra_body={"abstain_below": 1.5})


def test_earlier_messages_are_the_conversation(client: openai.OpenAI) -> None:
    reply = ask(client, QUESTION, "The eleventh of May.", "And who said so?")
    assert "launch" in reply.rag_app["query"] and reply.rag_app["question"] == "And who said so?"


def test_a_question_can_be_limited(client: openai.OpenAI) -> None:
    reply = ask(client, QUESTION, extra_body={"path": "*.txt"})
    assert reply.citations
    assert {citation["path"].rsplit(".", 1)[-1] for citation in reply.citations} == {"txt"}


def test_what_cannot_be_answered_is_an_error_of_the_api(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="no model"):
        client.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "?"}])
    for refused in (("",), (QUESTION, "an answer")):
        with pytest.raises(openai.BadRequestError):
            ask(client, *refused)
    with pytest.raises(openai.BadRequestError, match="no document"):
        ask(client, QUESTION, extra_body={"documents": ["nowhere"]})
    with pytest.raises(openai.BadRequestError, match="no document"):
        ask(client, QUESTION, stream=True, extra_body={"documents": ["nowhere"]})
    with pytest.raises(openai.BadRequestError, match="messages"):
        client.chat.completions.create(model="rag-app", messages=[])
    image: Any = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="rag-app", messages=image)


def test_a_client_that_hangs_up_leaves_the_line(client: openai.OpenAI) -> None:
    for _ in range(3):
        stream = ask(client, QUESTION, stream=True)
        next(iter(stream))
        stream.close()
    assert ask(client, QUESTION, timeout=PATIENCE).choices[0].message.content
