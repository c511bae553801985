"""Other programs: the official OpenAI client and a real MCP client against a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from mcp import Client

from generator.answer import Answer
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE

QUESTION = "What is the final launch date of Heron?"
TOOLS = {"search_documents", "ask_documents", "read_passage"}


@pytest.fixture(scope="module")
def corpus(served: Served) -> Iterator[Corpus]:
    with Corpus(served.folder) as corpus:
        yield corpus


@pytest.fixture(scope="module")
def expected(corpus: Corpus) -> Answer:
    return corpus.ask(QUESTION)


@pytest.fixture(scope="module")
def client(served: Served) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{served.address}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, *said: str, **more: Any) -> Any:
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return client.chat.completions.create(model="rag-app", messages=messages, **more)


# ---- OpenAI ----


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


# ---- MCP ----


def use(served: Served, tool: str, **arguments: object) -> Any:
    async def call() -> Any:
        async with Client(f"{served.address}/mcp") as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(call())


def test_tools_have_schemas_and_none_changes_anything(served: Served) -> None:
    async def listed() -> Any:
        async with Client(f"{served.address}/mcp") as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint
        assert tool.description and tool.output_schema["properties"]
        described = {**tool.input_schema["properties"]}
        assert all("description" in field for field in described.values())
    assert tools["ask_documents"].input_schema["required"] == ["question"]


def test_search_is_that_of_the_corpus(served: Served, corpus: Corpus) -> None:
    found = use(served, "search_documents", query="launch date", k=1).structured_content
    (hit,) = corpus.search("launch date", k=1)
    (document,) = found["documents"]
    assert document["document"] == hit.document
    assert [place["text"] for place in document["passages"]] == [each.text for each in hit.passages]


def test_an_answer_has_its_quotes_and_they_can_be_read(served: Served, expected: Answer) -> None:
    answered = use(served, "ask_documents", question=QUESTION).structured_content
    assert answered["answer"] == expected.text and not answered["abstained"]
    for quote in answered["citations"]:
        place = {name: quote[name] for name in ("document", "start", "end")}
        assert use(served, "read_passage", **place).structured_content["text"] == quote["text"]


def test_a_tool_says_what_is_wrong(served: Served) -> None:
    calls: dict[str, dict[str, Any]] = {
        "read_passage": {"document": "nowhere"},
        "search_documents": {"query": " "},
        "ask_documents": {"question": QUESTION, "documents": ["nowhere"]},
    }
    for tool, arguments in calls.items():
        result = use(served, tool, **arguments)
        assert result.is_error, tool
    said = use(served, "read_passage", document="nowhere").content[0].text
    assert "no such document" in said


# ---- what is not offered ----


def test_nothing_that_changes_the_corpus_has_a_public_name(served: Served) -> None:
    info = httpx.get(f"{served.address}/gradio_api/info").json()
    assert info == {"named_endpoints": {}, "unnamed_endpoints": {}}
    assert httpx.delete(f"{served.address}/files").status_code in {404, 405}
    assert httpx.post(f"{served.address}/gradio_api/upload").status_code == 404
