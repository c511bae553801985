"""The official OpenAI client against a running server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from generator.answer import NOT_SAID, Answer
from generator.prompt.ledger import count_words
from rag_app.chat.web import openai_api
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.programs import OFF_TOPIC, PASSWORDS, QUESTION, WITH_SHORT
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


def test_nothing_says_where_files_lie(
    served: Served, client: openai.OpenAI, expected: Answer
) -> None:
    replies = [ask(client, QUESTION), ask(client, OFF_TOPIC)]
    replies += list(ask(client, QUESTION, stream=True))
    folders = {str(served.folder), str(Path(expected.citations[0].path).parent)}
    for reply in replies:
        assert not [folder for folder in folders if folder in reply.model_dump_json()]
    names = [citation["path"] for citation in replies[0].citations]
    assert names == [Path(citation.path).name for citation in expected.citations]
    assert all(Path(one["path"]).name == one["path"] for one in replies[1].rag_app["closest"])
    free = replace(
        WITH_SHORT, model="/models/llama", configuration={"model": "/models/llama", "k": "v"}
    )
    fields = openai_api._extra_fields(free)["rag_app"]
    assert (fields["model"], fields["configuration"]) == ("llama", {"model": "llama", "k": "v"})


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


def test_one_model_can_be_looked_up(client: openai.OpenAI) -> None:
    model = client.models.retrieve("rag-app-quote")
    assert (model.id, model.object) == ("rag-app-quote", "model")
    with pytest.raises(openai.NotFoundError) as error:
        client.models.retrieve("gpt-9")
    assert (error.value.code, error.value.param) == ("model_not_found", "model")


def test_usage_is_that_of_the_ledger(client: openai.OpenAI, expected: Answer) -> None:
    usage = ask(client, QUESTION).usage
    read = count_words(QUESTION) + sum(entry.kept for entry in expected.context)
    written = count_words(expected.text)
    assert (usage.prompt_tokens, usage.completion_tokens) == (read, written)
    assert usage.total_tokens == read + written > 0

    pieces = list(ask(client, QUESTION, stream=True, stream_options={"include_usage": True}))
    assert pieces[-1].choices == [] and pieces[-1].usage == usage
    assert all(piece.usage is None and piece.choices for piece in pieces[:-1])
    assert all(piece.usage is None for piece in ask(client, QUESTION, stream=True))


LONG = "word " * 2000


@pytest.mark.parametrize(
    ("said", "more", "code", "param"),
    [
        ((LONG,), {}, "string_above_max_length", "messages[0].content"),
        ((QUESTION, LONG * 12, QUESTION), {}, "context_length_exceeded", "messages"),
        ((QUESTION, "an answer"), {}, None, "messages[1]"),
        ((QUESTION,), {"n": 2}, None, "n"),
        ((QUESTION,), {"user": "x" * 2000}, "string_above_max_length", "user"),
        ((QUESTION,), {"extra_body": {"k": 0}}, None, "k"),
        ((), {}, None, "messages"),
    ],
)
def test_what_is_too_much_is_refused_before_anything_is_done(
    said: tuple[str, ...], more: dict[str, Any], code: str | None, param: str, client: openai.OpenAI
) -> None:
    with pytest.raises(openai.BadRequestError) as error:
        ask(client, *said, **more)
    assert (error.value.code, error.value.param) == (code, param)
    assert error.value.type == "invalid_request_error"


def test_a_body_of_megabytes_is_413(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as error:
        ask(client, "word " * 800_000)
    assert error.value.status_code == 413 and error.value.code == "request_too_large"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/embeddings", 404),
        ("GET", "/v1", 404),
        ("GET", "/v1/chat/completions", 405),
        ("DELETE", "/v1/models", 405),
    ],
)
def test_every_error_below_v1_has_its_shape(
    method: str, path: str, status: int, served: Served
) -> None:
    reply = httpx.request(method, f"{served.address}{path}", timeout=PATIENCE)
    assert reply.status_code == status
    assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


def test_json_that_is_none_is_an_error_of_the_api(served: Served) -> None:
    headers = {"content-type": "application/json"}
    url = f"{served.address}/v1/chat/completions"
    reply = httpx.post(url, content=b"{nonsense", headers=headers, timeout=PATIENCE)
    assert reply.status_code == 400 and reply.json()["error"]["type"] == "invalid_request_error"
    assert reply.json()["error"]["message"].startswith("the body: ")
    reply = httpx.post(url, json={"messages": [{"role": "user", "content": "?"}]}, timeout=PATIENCE)
    assert reply.json()["error"]["code"] == "missing_required_parameter"
    assert reply.json()["error"]["param"] == "model"


def test_each_login_is_answered_from_what_it_may_read(shared_server: Served) -> None:
    def text(user: str, question: str, **limits: object) -> str:
        client = openai.OpenAI(
            base_url=f"{shared_server.address}/v1",
            api_key=f"{user}:{PASSWORDS[user]}",
            max_retries=0,
        )
        answer: str = ask(client, question, extra_body=limits).choices[0].message.content
        return answer

    ghost, listing = "When did the ghost walk?", "What documents do you have?"
    assert "midnight" in text("ann", ghost)
    assert text("bob", ghost) == text("eve", ghost) == NOT_SAID
    assert text("ann", ghost, collections=["ann"]) == text("ann", ghost)
    assert text("ann", ghost, collections=["plans", "default"]) == NOT_SAID
    lines = {user: text(user, listing).splitlines()[1:] for user in PASSWORDS}
    names = {user: [line.split(" ")[0] for line in of] for user, of in lines.items()}
    assert names == {
        "ann": ["menu", "diary", "mine"],
        "bob": ["menu", "plan"],
        "eve": ["menu", "plan"],
    }
    for named in ({"collections": ["ann"]}, {"documents": ["diary"]}):
        with pytest.raises(openai.BadRequestError) as refused:
            text("eve", ghost, **named)
        assert "no such collection" in str(refused.value) or "no document" in str(refused.value)
