"""Tools for other programs over MCP (streamable HTTP): search, ask, read, overview, register.

None of them writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from fastapi import FastAPI, Request
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, RootModel

from generator.answer_json import as_json, schema
from generator.overview.commitments import CommitmentKind
from generator.register.entry import State
from indexing.documents import Hit, PassageHit, clock
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Scope
from rag_app import __version__
from rag_app.chat.request_limits import MAX_QUESTION
from rag_app.chat.web.auth import user_of
from rag_app.chat.web.file_names import file_name, without_folder, without_places
from rag_app.request_fields import Act, SearchOptions, ask_request, fields_of, limits_of
from rag_app.request_models import annotation, plain, usual

if TYPE_CHECKING:
    from generator.answer import Answer
    from generator.overview.overview import Overview
    from generator.overview.overview import Quote as DocumentQuote
    from generator.register.entry import Entry, Register
    from rag_app.chat.application import Application
    from rag_app.corpus.access import SharedCorpus
    from rag_app.corpus.corpus import Corpus

Tool = TypeVar("Tool", bound=Callable[..., Any])

MAX_CHARACTERS = 20_000  # of one passage read
MAX_MATTERS = 100  # of the register
NOT_SEARCHED = "Parts of the corpus that were lost, each with how many documents it holds."

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


class Span(BaseModel):
    """Characters `start` to `end` (exclusive) of a document."""

    document: str = Field(description="Id of the document; `read_passage` takes it.")
    title: str
    start: int
    end: int
    text: str
    speaker: str | None = None
    time: str | None = Field(None, description="HH:MM:SS from the start of the recording.")
    page: int | None = None
    place: str | None = Field(None, description='What the page is called: "page 4", "slide 4".')


class DocumentHit(BaseModel):
    """A document that matches a query, with its best passages."""

    document: str
    title: str
    path: str = Field(description="Name of its file.")
    score: float
    passages: list[Span]


class SearchResult(BaseModel):
    """Documents, best first."""

    documents: list[DocumentHit]
    not_searched: list[str] = Field([], description=NOT_SEARCHED)


class AnswerResult(RootModel[dict[str, Any]]):
    """An answer with everything needed to check it (`docs/answer.schema.json`)."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls,
        core_schema: Any,  # noqa: ANN401 - pydantic's own
        handler: Any,  # noqa: ANN401 - as above
    ) -> dict[str, Any]:
        """The schema of the form."""
        return schema()


class SpeakerWords(BaseModel):
    """Somebody who speaks in a document."""

    name: str
    words: int
    share: float = Field(description="Of all words that anyone says, 0 to 1.")


class TopicSpan(BaseModel):
    """A part of a document about one thing."""

    start: int
    end: int
    keywords: list[str]
    quote: Span = Field(description="Its most telling sentence.")


class ActionSpan(BaseModel):
    """Something that somebody is to do."""

    quote: Span = Field(description="The sentence that says so.")
    who: str | None = None
    when: str | None = Field(None, description="In the words of the quote.")


class OverviewResult(BaseModel):
    """What a document is about, in its own words."""

    document: str = Field(description="Id of the document; `read_passage` takes it.")
    title: str
    words: int
    length: str | None = Field(None, description="HH:MM:SS of a recording.")
    date: str = Field("", description="In ISO 8601, as the file says; empty for an unknown one.")
    participants: list[str] = Field([], description="As the file lists them.")
    speakers: list[SpeakerWords]
    topics: list[TopicSpan] = Field(description="In order; they cover the document.")
    decisions: list[Span]
    actions: list[ActionSpan]


class RegisterEntry(BaseModel):
    """A sentence that begins a matter, or says what became of it."""

    id: str
    tells: State = Field(description="What the matter is from here on.")
    quote: Span
    date: str = Field("", description="Of the document, in ISO 8601; empty for an unknown one.")
    who: str = ""
    until: str = Field("", description="In the words of the quote.")
    due: str = Field("", description="The day that they mean, in ISO 8601; empty if uncertain.")


class RegisterMatter(BaseModel):
    """A decision, an action or an open question, with all that was said of it."""

    id: str
    kind: CommitmentKind
    state: State
    who: str
    until: str
    due: str
    entries: list[RegisterEntry] = Field(description="The earliest first.")


class RegisterResult(BaseModel):
    """What was decided, is to be done, and is open, over all meetings."""

    meetings: int = Field(description="How many documents of meetings were read.")
    undated: int = Field(description="How many of them have no date.")
    total: int = Field(description="How many matters there are.")
    matters: list[RegisterMatter] = Field(description="From the first that was asked for.")


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
    """The tools: search, ask, read, overview, register. None of them changes anything."""
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
    ) -> SearchResult:
        """Find the documents that a query is about, each with its best passages."""
        with tool_errors(app.corpus):
            corpus = app.corpus.seen_by(_scope(context))
            return await asyncio.to_thread(_search, corpus, query, cast(SearchOptions, fields))

    @tools.tool(title="Ask documents", annotations=read_only)
    @_takes_fields("ask")
    async def ask_documents(
        context: Context[Any, Any],
        question: Question,
        **fields: Any,  # noqa: ANN401 - as above
    ) -> AnswerResult:
        """Answer a question from the documents, with citations that are exact spans of them."""
        with tool_errors(app.corpus):
            scope = _scope(context)
            fields["mode"] = fields["mode"] or app.answer
            request = ask_request(question, plain(fields))
            who = f"mcp {scope.login or ''}"
            return _answer_result(await app.questions.answer(request, scope, who=who))

    @tools.tool(title="Read a passage", annotations=read_only)
    async def read_passage(
        context: Context[Any, Any],
        document: Annotated[str, Field(max_length=1000, description="Id or title of a document.")],
        start: Annotated[int, Field(ge=0, description="Offset of the first character.")] = 0,
        end: Annotated[int, Field(ge=0, description="Offset after the last character.")] = 4000,
    ) -> Span:
        """Read a document's text from one character to another, 20,000 at most."""
        with tool_errors(app.corpus):
            corpus = app.corpus.seen_by(_scope(context))
            return await asyncio.to_thread(_read, corpus, document, start, end)

    @tools.tool(title="Overview of a document", annotations=read_only)
    async def document_overview(
        context: Context[Any, Any],
        document: Annotated[str, Field(description="Id, path or title of a document.")],
    ) -> OverviewResult:
        """What a document is about: speakers, topics, decisions, actions, as exact quotes."""
        with tool_errors(app.corpus):
            corpus = app.corpus.seen_by(_scope(context))
            about = await asyncio.to_thread(corpus.overview, document)
            return _overview_result(about)

    @tools.tool(title="Register of meetings", annotations=read_only)
    @_takes_fields("search", "collections", "since", "until", "participants")
    async def meeting_register(
        context: Context[Any, Any],
        person: Person = "",
        kinds: Kinds = (),
        states: States = (),
        start: Start = 0,
        **fields: Any,  # noqa: ANN401 - as above
    ) -> RegisterResult:
        """Decisions, actions and open questions of all meetings, as exact quotes, 100 at most."""
        with tool_errors(app.corpus):
            corpus, where = app.corpus.seen_by(_scope(context)), limits_of(fields)
            found = await asyncio.to_thread(
                lambda: corpus.register(person=person, kind=kinds, state=states, where=where)
            )
            return _register_result(found, start)

    return tools


def _takes_fields(act: Act, *names: str) -> Callable[[Tool], Tool]:
    """Gives a tool the fields of a request as parameters, in the place of its `**fields`.

    Args:
        act: Of the request.
        names: Only these of the fields; none for all.
    """

    def with_signature(tool: Tool) -> Tool:
        fields = [one for one in fields_of("MCP", act) if not names or one.name in names]
        own = [
            one
            for one in signature(tool, eval_str=True).parameters.values()
            if one.kind != one.VAR_KEYWORD
        ]
        more = [
            Parameter(
                one.name, Parameter.KEYWORD_ONLY, default=usual(one), annotation=annotation(one)
            )
            for one in fields
        ]
        whole = signature(tool, eval_str=True).replace(parameters=[*own, *more])
        tool.__signature__ = whole  # type: ignore[attr-defined]
        return tool

    return with_signature


def _scope(context: Context[Any, Any]) -> Scope:
    """What the caller of a tool may read."""
    request = context.request_context.request
    assert isinstance(request, Request), "the tools are served over HTTP only"
    return Scope(user_of(request.scope))


@contextmanager
def tool_errors(corpus: SharedCorpus) -> Iterator[None]:
    """Report errors of ours to the caller of a tool, without where the corpus lies."""
    try:
        yield
    except RagAppError as error:
        raise ToolError(without_folder(str(error), corpus)) from error


def _search(corpus: Corpus, query: str, fields: SearchOptions) -> SearchResult:
    results = corpus.partial_search(query, **fields)
    hits = [
        DocumentHit(
            document=hit.document,
            title=hit.title,
            path=file_name(hit.path),
            score=hit.score,
            passages=[span for each in hit.passages for span in _passage_spans(hit, each)],
        )
        for hit in results.hits
    ]
    return SearchResult(documents=hits, not_searched=[line.title for line in results.missing])


def _passage_spans(hit: Hit, passage: PassageHit) -> Iterator[Span]:
    """A passage; of a search for what somebody says, each thing that they say in it."""
    whole = Span(
        document=hit.document,
        title=hit.title,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        speaker=passage.speaker,
        time=clock(passage.time),
        page=passage.page,
        place=passage.place,
    )
    if not passage.said:
        yield whole
    for one in passage.said:
        place = {"start": one.text_start, "end": one.end, "text": passage.words(one)}
        yield whole.model_copy(update={**place, "speaker": one.speaker, "time": clock(one.time)})


def _answer_result(answer: Answer) -> AnswerResult:
    return AnswerResult(dict(as_json(without_places(answer))))


def _overview_result(about: Overview) -> OverviewResult:
    def span(quote: DocumentQuote) -> Span:
        values = {**asdict(quote), "time": clock(quote.time)}
        return Span(document=about.document, title=about.title, **values)

    return OverviewResult(
        document=about.document,
        title=about.title,
        words=about.words,
        length=clock(about.seconds),
        date=about.occasion.date,
        participants=list(about.occasion.participants),
        speakers=[
            SpeakerWords(name=each.name, words=each.words, share=each.share)
            for each in about.speakers
        ],
        topics=[
            TopicSpan(
                start=each.start,
                end=each.end,
                keywords=list(each.keywords),
                quote=span(each.quote),
            )
            for each in about.topics
        ],
        decisions=[span(each) for each in about.decisions],
        actions=[
            ActionSpan(quote=span(each.quote), who=each.who, when=each.when)
            for each in about.actions
        ],
    )


def _register_result(register: Register, start: int) -> RegisterResult:
    return RegisterResult(
        meetings=register.meetings,
        undated=register.undated,
        total=len(register),
        matters=[
            RegisterMatter(
                **{
                    name: getattr(one, name)
                    for name in ("id", "kind", "state", "who", "until", "due")
                },
                entries=[_register_entry(each) for each in one.entries],
            )
            for one in register.matters[start : start + MAX_MATTERS]
        ],
    )


def _register_entry(one: Entry) -> RegisterEntry:
    values = {**asdict(one.quote), "time": clock(one.quote.time)}
    quote = Span(document=one.document, title=one.title, **values)
    about = {name: getattr(one, name) for name in ("id", "tells", "who", "until", "due")}
    return RegisterEntry(quote=quote, date=one.day, **about)


def _read(corpus: Corpus, name: str, start: int, end: int) -> Span:
    document = corpus.document(name)
    length = len(document.text)
    if not start < end or start >= length:
        raise InvalidRequest(f"{name}: no characters {start} to {end}; it has {length}")
    end = min(end, start + MAX_CHARACTERS, length)
    utterance = document.utterance_at(start)
    return Span(
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
