"""A real MCP client against a running server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from mcp import Client

from generator.answer import Answer
from rag_app import __version__
from rag_app.chat.web.mcp import results
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.programs import OFF_TOPIC, PASSWORDS, QUESTION, WITH_SHORT

TOOLS = {
    "search_documents",
    "ask_documents",
    "every_place",
    "read_passage",
    "document_overview",
    "meeting_register",
}


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
        assert use(served, "read_passage", **place).structured_content["text"] == quote["quote"]


def test_the_words_that_answer_are_a_span() -> None:
    values = results.answer_result(WITH_SHORT).model_dump()
    assert values["short"] == {
        "marker": 1, "document": "d1", "start": 6, "end": 10, "text": "nine", "probability": 0.75,
    }  # fmt: skip
    assert values["probability"] == 0.5 and values["closest"] == []
    assert values["citations"][0]["time"] == "00:01:01"


def test_closest_passages_can_be_read(served: Served) -> None:
    answered = use(served, "ask_documents", question=OFF_TOPIC).structured_content
    assert answered["abstained"] and answered["citations"] == [] and answered["closest"]
    for passage in answered["closest"]:
        place = {name: passage[name] for name in ("document", "start", "end")}
        assert use(served, "read_passage", **place).structured_content["text"] == passage["quote"]
    anyway = use(served, "ask_documents", question=OFF_TOPIC, abstain_below=0).structured_content
    assert anyway["citations"] and anyway["closest"] == []


def test_an_overview_is_that_of_the_corpus(served: Served, corpus: Corpus) -> None:
    entry = corpus.documents()[0]
    values = use(served, "document_overview", document=entry.id).structured_content
    about = corpus.overview(entry.id)
    assert [topic["keywords"] for topic in values["topics"]] == [
        list(topic.keywords) for topic in about.topics
    ]
    for topic in values["topics"]:
        place = {name: topic["quote"][name] for name in ("document", "start", "end")}
        said = use(served, "read_passage", **place).structured_content["text"]
        assert said == topic["quote"]["text"]


def test_the_register_is_that_of_the_corpus(served: Served, corpus: Corpus) -> None:
    values = use(served, "meeting_register", kinds=["action"]).structured_content
    expected = corpus.register(kind="action")
    assert [one["id"] for one in values["matters"]] == [one.id for one in expected]
    assert values["total"] == len(expected) > 0 and values["meetings"] == expected.meetings
    for matter in values["matters"]:
        for entry in matter["entries"]:
            place = {name: entry["quote"][name] for name in ("document", "start", "end")}
            read = use(served, "read_passage", **place).structured_content
            assert read["text"] == entry["quote"]["text"]
    assert (
        use(served, "meeting_register", kinds=["action"], start=1).structured_content["matters"]
        == values["matters"][1:]
    )


def test_every_place_is_that_of_the_corpus(served: Served, corpus: Corpus) -> None:
    values = use(served, "every_place", question="Who asked for what?", page=1).structured_content
    found = corpus.every("Who asked for what?", page=1)
    assert values["found"] == found.found and values["about"] == found.estimate.number
    quotes = [one for each in values["documents"] for one in each["passages"]]
    assert [one["text"] for one in quotes] == [one.statement.text for one in found.places]


def test_a_tool_says_what_is_wrong(served: Served) -> None:
    calls: dict[str, dict[str, Any]] = {
        "read_passage": {"document": "nowhere"},
        "document_overview": {"document": "nowhere"},
        "search_documents": {"query": " "},
        "ask_documents": {"question": QUESTION, "documents": ["nowhere"]},
    }
    for tool, arguments in calls.items():
        result = use(served, tool, **arguments)
        assert result.is_error, tool
    said = use(served, "read_passage", document="nowhere").content[0].text
    assert "no such document" in said


def test_the_server_says_its_version_and_not_where_its_files_lie(
    served: Served, expected: Answer
) -> None:
    async def about() -> Any:
        async with Client(f"{served.address}/mcp") as client:
            return client.server_info

    info = asyncio.run(about())
    assert (info.name, info.version) == ("rag-app", __version__)
    results = [
        use(served, "search_documents", query=QUESTION),
        use(served, "ask_documents", question=QUESTION),
        use(served, "read_passage", document=expected.citations[0].document),
        use(served, "read_passage", document="nowhere"),
    ]
    folders = {str(served.folder), str(Path(expected.citations[0].path).parent)}
    for result in results:
        assert not [folder for folder in folders if folder in str(result)]


def test_a_question_of_a_tool_has_a_limit(served: Served) -> None:
    long = "word " * 2000
    assert use(served, "ask_documents", question=long).is_error
    assert use(served, "search_documents", query=long).is_error


def test_each_login_reads_what_it_may_read(shared_server: Served) -> None:
    def of(user: str, tool: str, **arguments: object) -> Any:
        host = shared_server.address.removeprefix("http://")
        address = f"http://{user}:{PASSWORDS[user]}@{host}"
        return use(Served(address, shared_server.folder), tool, **arguments)

    def titles(user: str, **limits: object) -> set[str]:
        found = of(user, "search_documents", query="ghost, mast, soup", **limits)
        return {each["title"] for each in found.structured_content["documents"]}

    assert titles("ann") == {"menu", "diary", "mine"}
    assert titles("eve") == {"menu", "plan"}
    assert titles("ann", collections=["plans"]) == {"plan"}
    assert of("eve", "search_documents", query="ghost", collections=["ann"]).is_error
    ghost = "When did the ghost walk?"
    for limits, abstains in (({}, False), ({"collections": ["plans"]}, True)):
        answer = of("ann", "ask_documents", question=ghost, **limits).structured_content
        assert answer["abstained"] is abstains
    assert of("eve", "ask_documents", question=ghost).structured_content["abstained"]
    assert of("ann", "read_passage", document="diary").structured_content["title"] == "diary"
    assert of("bob", "read_passage", document="plan").structured_content["title"] == "plan"
    with Corpus(shared_server.folder) as corpus:
        (diary,) = (one.id for one in corpus.documents() if one.title == "diary")
    for tool in ("read_passage", "document_overview"):
        assert not of("ann", tool, document=diary).is_error
        for name in (diary, "diary"):
            assert of("eve", tool, document=name).is_error
