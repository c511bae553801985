"""Tools for other programs over MCP (streamable HTTP): search, ask, every place, read, and more.

None of them writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from inspect import Parameter
from typing import Annotated, Any, TypeVar, cast

from fastapi import FastAPI, Request
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field

from generator.overview.commitments import CommitmentKind
from generator.register.entry import State
from indexing.documents import clock
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Scope
from rag_app import __version__
from rag_app.chat.application import Application
from rag_app.chat.request_limits import MAX_QUESTION
from rag_app.chat.web.auth import user_of
from rag_app.chat.web.file_names import without_folder
from rag_app.chat.web.mcp import results
from rag_app.corpus.reader import CorpusReader
from rag_app.request_fields import (
    Act,
    SearchOptions,
    ask_request,
    fields_of,
    limits_of,
    with_parameters,
)
from rag_app.request_models import annotation, plain, usual

Tool = TypeVar("Tool", bound=Callable[..., Any])

MAX_CHARACTERS = 20_000  # of one passage read

Question = Annotated[
    str, Field(max_length=MAX_QUESTION, description="A question about what the documents say.")
]
Query = Annotated[str, Field(max_length=MAX_QUESTION, description="A question or a description.")]

Person = Annotated[
    str, Field(max_length=1000, description="Only what this person is to do; or says, of others.")
]
Kinds = Annotated[tuple[CommitmentKind, ...], Field(description="Only these; none for all.")]
States = Annotated[
    tuple[State, ...],
    Field(description='Only what became of this; "open" is all that is not over.'),
]
Start = Annotated[int, Field(ge=0, description="How many matters to leave out.")]


def add(web: FastAPI, app: Application) -> None:
    """Serve the tools at /mcp."""
    tools = server(app).streamable_http_app(
        stateless_http=True,
        # Access control covers the whole application: `auth.py`.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    web.router.routes.extend(tools.routes)
    before = web.router.lifespan_context

    @asynccontextmanager
    async def both(of: FastAPI) -> AsyncIterator[Any]:
        async with before(of) as state, tools.router.lifespan_context(tools):
            yield state

    web.router.lifespan_context = both


def server(app: Application) -> MCPServer[None]:
    """The tools: search, ask, every place, read, overview, register. None changes anything."""
    tools: MCPServer[None] = MCPServer(
        "rag-app",
        instructions="Search, ask and read long documents. Answers quote; quotes are exact spans.",
        log_level="WARNING",
        version=__version__,
    )
    read_only = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )

    @tools.tool(title="Search documents", annotations=read_only)
    @_takes_fields("search")
    async def search_documents(
        context: Context[Any, Any],
        query: Query,
        **fields: Any,  # noqa: ANN401 - as `_takes_fields` says
    ) -> results.SearchResult:
        """Find the documents that a query is about, each with its best passages."""
        with _reading(app, context) as corpus:
            return await asyncio.to_thread(_search, corpus, query, cast(SearchOptions, fields))

    @tools.tool(title="Ask documents", annotations=read_only)
    @_takes_fields("ask")
    async def ask_documents(
        context: Context[Any, Any],
        question: Question,
        **fields: Any,  # noqa: ANN401 - as above
    ) -> results.AnswerResult:
        """Answer a question from the documents, with citations that are exact spans of them."""
        with _reading(app, context) as corpus:
            fields["mode"] = fields["mode"] or app.answer
            request = ask_request(question, plain(fields))
            answer = await app.questions.answer(request, corpus.scope, who=_who(corpus))
            return results.answer_result(answer)

    @tools.tool(title="Every place", annotations=read_only)
    @_takes_fields("every")
    async def every_place(
        context: Context[Any, Any],
        question: Question,
        **fields: Any,  # noqa: ANN401 - as above
    ) -> results.EveryResult:
        """Every place that says what is asked for, and how many there probably are."""
        with _reading(app, context) as corpus:
            read = partial(corpus.every, question, **fields)
            return results.every_result(await app.questions.in_turn(read, who=_who(corpus)))

    @tools.tool(title="Read a passage", annotations=read_only)
    async def read_passage(
        context: Context[Any, Any],
        document: Annotated[str, Field(max_length=1000, description="Id or title of a document.")],
        start: Annotated[int, Field(ge=0, description="Offset of the first character.")] = 0,
        end: Annotated[int, Field(ge=0, description="Offset after the last character.")] = 4000,
    ) -> results.Span:
        """Read a document's text from one character to another, 20,000 at most."""
        with _reading(app, context) as corpus:
            return await asyncio.to_thread(_read, corpus, document, start, end)

    @tools.tool(title="Overview of a document", annotations=read_only)
    async def document_overview(
        context: Context[Any, Any],
        document: Annotated[str, Field(description="Id, path or title of a document.")],
    ) -> results.OverviewResult:
        """What a document is about: speakers, topics, decisions, actions, as exact quotes."""
        with _reading(app, context) as corpus:
            return results.overview_result(await asyncio.to_thread(corpus.overview, document))

    @tools.tool(title="Register of meetings", annotations=read_only)
    @_takes_fields("search", "collections", "since", "until", "participants")
    async def meeting_register(
        context: Context[Any, Any],
        person: Person = "",
        kinds: Kinds = (),
        states: States = (),
        start: Start = 0,
        **fields: Any,  # noqa: ANN401 - as above
    ) -> results.RegisterResult:
        """Decisions, actions and open questions of all meetings, as exact quotes, 100 at most."""
        with _reading(app, context) as corpus:
            where = limits_of(fields)
            read = partial(corpus.register, person=person, kind=kinds, state=states, where=where)
            found = await app.questions.in_turn(read, who=_who(corpus))
            return results.register_result(found, start)

    return tools


def _takes_fields(act: Act, *names: str) -> Callable[[Tool], Tool]:
    """Gives a tool the fields of a request, or those named, in the place of its `**fields`."""

    def with_signature(tool: Tool) -> Tool:
        more = [
            Parameter(
                one.name, Parameter.KEYWORD_ONLY, default=usual(one), annotation=annotation(one)
            )
            for one in fields_of("MCP", act)
            if not names or one.name in names
        ]
        return with_parameters(tool, more, eval_str=True)

    return with_signature


@contextmanager
def _reading(app: Application, context: Context[Any, Any]) -> Iterator[CorpusReader]:
    """What the caller of a tool may read; they are told of errors without where that lies."""
    request = context.request_context.request
    assert isinstance(request, Request), "the tools are served over HTTP only"
    try:
        yield app.corpus.seen_by(Scope(user_of(request.scope)))
    except RagAppError as error:
        raise ToolError(without_folder(str(error), app.corpus)) from error


def _who(corpus: CorpusReader) -> str:
    """Whose place in the queue a call takes."""
    return f"mcp {corpus.scope.login or ''}"


def _search(corpus: CorpusReader, query: str, fields: SearchOptions) -> results.SearchResult:
    found = corpus.partial_search(query, **fields)
    hits = [*map(results.document_hit, found.hits)]
    lost = [line.title for line in found.missing]
    return results.SearchResult(documents=hits, not_searched=lost)


def _read(corpus: CorpusReader, name: str, start: int, end: int) -> results.Span:
    document = corpus.document(name)
    length = len(document.text)
    if not start < end or start >= length:
        raise InvalidRequest(f"{name}: no characters {start} to {end}; it has {length}")
    end = min(end, start + MAX_CHARACTERS, length)
    utterance = document.utterance_at(start)
    return results.Span(
        document=document.id,
        title=document.title,
        start=start,
        end=end,
        text=document.text[start:end],
        speaker=utterance.speaker if utterance else None,
        time=clock(utterance.time) if utterance else None,
        page=document.page_at(start),
        place=document.place_at(start),
    )
