"""The documents as tools of other programs, over MCP (streamable HTTP). Reading only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import FastAPI
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from indexing.documents import clock
from indexing.errors import InvalidRequest, RagAppError
from rag_app.chat.question_queue import Question
from retriever.filters import Filter

if TYPE_CHECKING:
    from generator.answer import Answer
    from rag_app.chat.application import Application
    from rag_app.corpus.corpus import Corpus

LONGEST = 20_000  # characters of one reading

Documents = Annotated[
    list[str], Field(description="Limit to these documents, by id or title; empty for all.")
]
Path = Annotated[str, Field(description='Limit to files like this, for example "*.vtt".')]
Speaker = Annotated[str, Field(description="Limit to passages in which this person speaks.")]
K = Annotated[int, Field(ge=1, le=50, description="How many documents at most.")]


class Place(BaseModel):
    """Where a text stands: characters `start` to `end` (exclusive) of a document."""

    document: str = Field(description="Id of the document; `read_passage` takes it.")
    title: str
    start: int
    end: int
    text: str
    speaker: str | None = None
    time: str | None = Field(None, description="HH:MM:SS from the start of the recording.")
    page: int | None = None


class Found(BaseModel):
    """A document that fits a query, with its best passages."""

    document: str
    title: str
    path: str
    score: float
    passages: list[Place]


class Search(BaseModel):
    """Documents, best first."""

    documents: list[Found]


class Quote(Place):
    """A verbatim quote that an answer rests on."""

    marker: int = Field(description='The number in the answer, as in "[1]".')
    verified: bool = Field(description="Whether the quote supports what the answer says with it.")


class Answered(BaseModel):
    """An answer with everything needed to check it."""

    answer: str
    citations: list[Quote]
    unsupported: list[str] = Field(description="Sentences that no quote supports.")
    abstained: bool = Field(description="Whether the documents do not say.")


def add(web: FastAPI, app: Application) -> None:
    """Offer the tools at /mcp."""
    offered = server(app).streamable_http_app(
        stateless_http=True,
        # Who may come in is decided for the whole application, by `guard.py`.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    web.router.routes.extend(offered.routes)
    before = web.router.lifespan_context

    @asynccontextmanager
    async def both(of: FastAPI) -> AsyncIterator[Any]:
        async with before(of) as state, offered.router.lifespan_context(offered):
            yield state

    web.router.lifespan_context = both


def server(app: Application) -> MCPServer[None]:
    """The tools: search, ask, read. None of them changes anything."""
    offered: MCPServer[None] = MCPServer(
        "rag-app",
        instructions="Search, ask and read long documents. Answers quote; quotes are exact spans.",
        log_level="WARNING",
    )
    reading = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )

    @offered.tool(title="Search documents", annotations=reading)
    async def search_documents(
        query: Annotated[str, Field(description="A question or a description, of any length.")],
        k: K = 5,
        documents: Documents = [],  # noqa: B006 - a schema needs the default itself
        path: Path = "",
        speaker: Speaker = "",
    ) -> Search:
        """Find the documents that a query is about, each with its best passages."""
        where = Filter(tuple(documents), path or None, speaker or None)
        with _told():
            return await asyncio.to_thread(_search, app.corpus, query, k, where)

    @offered.tool(title="Ask documents", annotations=reading)
    async def ask_documents(
        question: Annotated[str, Field(description="A question about what the documents say.")],
        answer: Annotated[
            Literal["quote", "free"],
            Field(description="Verbatim quotes only, or a small model's own words."),
        ] = "quote",
        documents: Documents = [],  # noqa: B006 - a schema needs the default itself
        path: Path = "",
        speaker: Speaker = "",
    ) -> Answered:
        """Answer a question from the documents, with citations that are exact spans of them."""
        where = Filter(tuple(documents), path or None, speaker or None)
        with _told():
            asked = Question(question, answer, where=where)
            return _answered(await app.asking.answer(asked, who="mcp"))

    @offered.tool(title="Read a passage", annotations=reading)
    async def read_passage(
        document: Annotated[str, Field(description="Id, path or title of a document.")],
        start: Annotated[int, Field(ge=0, description="First character.")] = 0,
        end: Annotated[int, Field(ge=0, description="One past the last character.")] = 4000,
    ) -> Place:
        """Read a document's text from one character to another, 20,000 at most."""
        with _told():
            return await asyncio.to_thread(_read, app.corpus, document, start, end)

    return offered


class _told:  # noqa: N801 - used as a function
    """Errors of ours, told to whoever called the tool."""

    def __enter__(self) -> None:
        """Nothing to begin with."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Tell what went wrong."""
        if isinstance(error, RagAppError):
            raise ToolError(str(error)) from error


def _search(corpus: Corpus, query: str, k: int, where: Filter) -> Search:
    found = [
        Found(
            document=hit.document,
            title=hit.title,
            path=hit.path,
            score=hit.score,
            passages=[
                Place(
                    document=hit.document,
                    title=hit.title,
                    start=each.start,
                    end=each.end,
                    text=each.text,
                    speaker=each.speaker,
                    time=clock(each.time),
                    page=each.page,
                )
                for each in hit.passages
            ],
        )
        for hit in corpus.search(query, k=k, where=where)
    ]
    return Search(documents=found)


def _answered(answer: Answer) -> Answered:
    quotes = [
        Quote(
            document=each.document,
            title=each.title,
            start=each.start,
            end=each.end,
            text=each.quote,
            speaker=each.speaker,
            time=clock(each.time),
            page=each.page,
            marker=each.marker,
            verified=each.verified,
        )
        for each in answer.citations
    ]
    return Answered(
        answer=answer.text,
        citations=quotes,
        unsupported=list(answer.unsupported),
        abstained=answer.abstained,
    )


def _read(corpus: Corpus, name: str, start: int, end: int) -> Place:
    document = corpus.document(name)
    length = len(document.text)
    if not start < end or start >= length:
        raise InvalidRequest(f"{name}: no characters {start} to {end}; it has {length}")
    end = min(end, start + LONGEST, length)
    turn = document.turn_at(start)
    return Place(
        document=document.id,
        title=document.title,
        start=start,
        end=end,
        text=document.text[start:end],
        speaker=turn.speaker if turn else None,
        time=clock(turn.time) if turn else None,
        page=document.page_at(start),
    )
