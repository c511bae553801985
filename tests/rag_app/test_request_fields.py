"""Every surface takes every field of a request that makes sense there, by the same name."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import click
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from generator.answer import Answer, EvidenceUnit, Mode, ReadAs
from generator.answer_form import Form, Length
from generator.instances.every import EveryRequest
from generator.prompt.follow_up import Turn
from generator.request import EVIDENCE_DOCUMENTS, AskRequest
from indexing.documents import Hit
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.filter import Filter, Scope
from rag_app import request_models
from rag_app.batch.questions import read_questions, read_turns
from rag_app.chat.application import Application
from rag_app.chat.conversation import Exchange
from rag_app.chat.web import openai_api
from rag_app.chat.web.mcp import results
from rag_app.chat.web.mcp import tools as mcp_tools
from rag_app.cli.ask import ask
from rag_app.cli.batch import batch
from rag_app.cli.documents.every import every
from rag_app.cli.main import main, search
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.reader import CorpusReader
from rag_app.corpus.shards.parts import SearchRequest
from rag_app.langchain.retriever import RagAppRetriever
from rag_app.request_fields import (
    ACTS,
    FILTER_FIELDS,
    REQUEST_FIELDS,
    Act,
    AskOptions,
    EveryOptions,
    RankingName,
    RequestField,
    SearchOptions,
    Surface,
    ask_request,
    every_request,
    fields_of,
    search_request,
)
from retriever.fusion import RANKINGS

QUESTION = "Who is the captain?"
VALUES: dict[str, Any] = {
    "mode": "quote", "k": 3, "passages": 2, "ranking": "bm25", "length": "long", "form": "list",
    "read_as": "question", "evidence": "passages", "abstain_below": 0.25,
    "history": (Turn("Who sails?", "Ada."),), "collections": ("tests",), "documents": ("a", "b"),
    "path": "*.txt", "speaker": "Ada", "since": "2026-03", "until": "2026-04",
    "participants": ("Bob",), "start": 3, "page": 7,
}  # fmt: skip
"""Of each field, none its default."""


def taken(of_fields: Any) -> dict[str, Any]:
    """The fields of a request or a search as the table names them."""
    values = {one.name: getattr(of_fields, one.name) for one in fields(of_fields)}
    where = values.pop("where")
    return values | {name: getattr(where, name) for name in FILTER_FIELDS}


def expected(surface: Surface, act: Act) -> dict[str, Any]:
    return {one.name: VALUES[one.name] for one in fields_of(surface, act)}


def assert_taken(of_fields: Any, surface: Surface, act: Act) -> None:
    values = taken(of_fields)
    assert {name: values[name] for name in expected(surface, act)} == expected(surface, act)


# ---- the table ----


def test_every_field_has_a_value_to_be_tested_with_that_is_not_its_default() -> None:
    assert {one.name for one in REQUEST_FIELDS} == set(VALUES)
    assert all(VALUES[one.name] != one.default for one in REQUEST_FIELDS)


def test_every_surface_takes_every_field_or_says_why_not() -> None:
    assert set(ACTS) == set(get_args(Surface))
    for one in REQUEST_FIELDS:
        assert one.help.strip() and set(one.absent) <= set(ACTS)
        for surface, reason in one.absent.items():
            assert set(ACTS[surface]) & set(one.acts) and len(reason) > 20


def test_defaults_are_those_of_the_requests() -> None:
    made: dict[str, Any] = {
        "ask": AskRequest(QUESTION),
        "search": SearchRequest(QUESTION),
        "every": EveryRequest(QUESTION),
    }
    for act in get_args(Act):
        values = taken(made[act])
        for one in fields_of("Python", act):
            assert values[one.name] == one.default, one.name
    assert AskRequest(QUESTION).k == EVIDENCE_DOCUMENTS


def test_nothing_of_a_request_is_missing() -> None:
    own = {"question", "query", "subject", "abstain", "where", "aliases"}
    named = {one.name for one in fields_of("Python", "ask")}
    assert {one.name for one in fields(AskRequest)} - own == named - set(FILTER_FIELDS)
    assert {one.name for one in fields(Filter)} == set(FILTER_FIELDS)
    searched = {one.name for one in fields_of("Python", "search")}
    assert {one.name for one in fields(SearchRequest)} - own == searched - set(FILTER_FIELDS)
    listed = {one.name for one in fields_of("Python", "every")}
    assert {one.name for one in fields(EveryRequest)} - own == listed - set(FILTER_FIELDS)
    assert set(get_args(RankingName)) == set(RANKINGS)


@pytest.mark.parametrize("one", [each for each in REQUEST_FIELDS if each.least is not None])
def test_bounds_are_those_of_the_requests(one: RequestField) -> None:
    assert one.least is not None
    wrong = [one.least - 1, *([one.most + 1] if one.most is not None else [])]
    for value in wrong:
        with pytest.raises(InvalidRequest):
            if "ask" in one.acts:
                ask_request(QUESTION, {one.name: value})
            elif "every" in one.acts:
                every_request(QUESTION, {one.name: value})
            else:
                search_request(QUESTION, {one.name: value})


# ---- Python ----


def test_keyword_arguments_of_python_have_the_names_and_kinds_of_the_table() -> None:
    names = {"Mode": Mode, "ReadAs": ReadAs, "Form": Form, "Length": Length, "Filter": Filter}
    scope = {**names, "EvidenceUnit": EvidenceUnit, "Turn": Turn}
    every_act = (("ask", AskOptions), ("search", SearchOptions), ("every", EveryOptions))
    for act, options in every_act:
        hints = get_type_hints(options, localns=scope)
        former = {"answer"} if act == "ask" else set()
        listed = {one.name: one for one in fields_of("Python", cast(Act, act))}
        assert set(hints) == {*listed, "where", *former}
        for one in listed.values():
            if one.choices and one.name != "ranking":
                assert hints[one.name] in {one.kind, one.kind | None}


def test_python() -> None:
    assert_taken(ask_request(QUESTION, expected("Python", "ask")), "Python", "ask")
    assert_taken(search_request(QUESTION, expected("Python", "search")), "Python", "search")
    assert_taken(every_request(QUESTION, expected("Python", "every")), "Python", "every")
    where = Filter(speaker="Ada")
    assert ask_request(QUESTION, {"where": where, "path": "*.txt"}).where == Filter(
        speaker="Ada", path="*.txt"
    )
    assert ask_request(QUESTION, {"answer": "free"}).mode == "free"  # its former name


# ---- commands ----


class Called(Exception):
    """The request that a command made."""


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus whose requests are raised instead of answered."""

    def stop(request: Any) -> Any:
        raise Called(request)

    monkeypatch.setattr(Corpus, "events", lambda self, request: stop(request))
    monkeypatch.setattr(Corpus, "answer", lambda self, request: stop(request))
    monkeypatch.setattr(
        Corpus, "partial_search", lambda self, query, **of: stop(search_request(query, of))
    )
    monkeypatch.setattr(
        Corpus, "every", lambda self, question, _, **of: stop(every_request(question, of))
    )


def words_of(surface: Surface, act: Act, tmp_path: Path, *, former: bool = False) -> list[str]:
    words = []
    for one in fields_of(surface, act):
        value = VALUES[one.name]
        if one.kind is list:
            file = tmp_path / "turns.jsonl"
            file.write_text('{"question": "Who sails?", "answer": "Ada."}\n')
            value = file
        option = one.former if former and one.former else one.option
        for each in value if isinstance(value, tuple) else [value]:
            words += [option, str(each)]
    return words


@pytest.mark.parametrize("former", [False, True])
@pytest.mark.parametrize("act", ["ask", "search", "every"])
@pytest.mark.usefixtures("requests")
def test_commands(act: Act, former: bool, tmp_path: Path) -> None:
    words = words_of("command", act, tmp_path, former=former)
    command = {"ask": ask, "search": search, "every": every}[act]
    with pytest.raises(Called) as called:
        command.main([QUESTION, "--corpus", str(tmp_path), *words], standalone_mode=False)
    assert_taken(called.value.args[0], "command", act)


def options_of(command: click.Command) -> dict[str, click.Option]:
    return {str(each.name): each for each in command.params if isinstance(each, click.Option)}


def test_batches(tmp_path: Path) -> None:
    context = batch.make_context(
        "batch",
        [__file__, "--out", str(tmp_path / "a"), *words_of("batch", "ask", tmp_path)],
    )
    values = {one.name: context.params[one.name] for one in fields_of("batch", "ask")}
    assert_taken(ask_request(QUESTION, values), "batch", "ask")
    assert "documents" not in options_of(batch) and "history" not in options_of(batch)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_files_of_questions(suffix: str, tmp_path: Path) -> None:
    values = expected("question file", "ask")
    file = tmp_path / f"questions{suffix}"
    if suffix == ".jsonl":
        turns = [{"question": "Who sails?", "answer": "Ada."}]
        file.write_text(json.dumps({"question": QUESTION, **values, "history": turns}))
    else:
        del values["history"]  # no table has a place for it
        cells = [";".join(one) if isinstance(one, tuple) else str(one) for one in values.values()]
        file.write_text(f"question,{','.join(values)}\n{QUESTION},{','.join(cells)}\n")
    (question,) = read_questions(file)
    assert question.problem is None and dict(question.fields) == values


@pytest.mark.parametrize(
    "wrong", [{"k": "many"}, {"k": 0}, {"length": "endless"}, {"history": [1]}, {"speaker": 4}]
)
def test_a_wrong_value_in_a_file_of_questions_is_of_that_question_alone(
    wrong: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{json.dumps({"question": QUESTION, **wrong})}\n{{"question": "When?"}}\n')
    first, second = read_questions(file)
    assert first.problem and second.problem is None


@pytest.mark.parametrize(
    ("question", "fields", "said"),
    [
        (QUESTION, {"document": "x"}, "no field 'document'; did you mean documents?"),
        (QUESTION, {"mode": "bad"}, "no mode 'bad'; use quote, free"),
        (QUESTION, {"read_as": "bad"}, "no reading 'bad'; use auto, question"),
        (QUESTION, {"history": ["bad"]}, "the history is none"),
        (QUESTION, {"history": 3}, "the history is none"),
        (None, {}, "a question is a string, not NoneType"),
    ],
)
def test_what_python_is_given_wrongly_is_named(
    question: Any, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=re.escape(said)):
        ask_request(question, fields)
    if not fields:
        for make in (search_request, every_request):
            with pytest.raises(InvalidRequest, match=re.escape(said)):
                make(question, {})


@pytest.mark.parametrize(
    ("name", "near"), [("speeker", "speaker"), ("docment", "document"), ("Untill", "until")]
)
def test_a_misspelled_field_is_named_and_others_are_notes(
    name: str, near: str, tmp_path: Path
) -> None:
    file = tmp_path / "questions.jsonl"
    second = '{"question": "When?", "notes": "mine", "model": "T4"}'
    file.write_text(f'{{"question": "Who?", "{name}": "Ada"}}\n{second}\n')
    misspelled, noted = read_questions(file)
    assert misspelled.problem == f"no field {name!r}; did you mean {near}?"
    assert noted.problem is None


def test_labelled_questions_have_answers_and_evidence_that_are_no_fields(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": QUESTION, "answer": "Ada", "evidence": [{"path": ""}]}))
    (question,) = read_questions(file)
    assert question.problem is None and not question.fields


def test_no_conversation(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text('{"question": "Who?"}\n')
    with pytest.raises(UnreadableFile, match="is not a conversation"):
        read_turns(file)


# ---- over HTTP ----


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Application]:
    with Corpus(tmp_path) as corpus:
        yield Application(corpus)


def as_sent(surface: Surface, act: Act) -> dict[str, Any]:
    turns = [{"question": "Who sails?", "answer": "Ada."}]
    return {
        name: turns if name == "history" else value
        for name, value in json.loads(json.dumps(expected(surface, act), default=asdict)).items()
    }


@pytest.mark.parametrize("act", ["ask", "search", "every"])
def test_the_tools_take_the_fields(
    act: Act, app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    scopes: list[Scope] = []

    async def answered(request: AskRequest, scope: Scope, **_: Any) -> Answer:
        made.append(request)
        scopes.append(scope)
        return Answer(QUESTION, "")

    def searched(seen: Corpus, query: str, of: Any) -> results.SearchResult:
        made.append(search_request(query, of))
        scopes.append(seen.scope)
        return results.SearchResult(documents=[], not_searched=[])

    def listed(seen: CorpusReader, question: str, **options: Any) -> None:
        made.append(every_request(question, options))
        scopes.append(seen.scope)

    nowhere = results.EveryResult(
        about=0, low=0, high=0, found=0, start=0, counted=False, stated=None, documents=[]
    )

    @contextmanager
    def reading(app: Application, _: object) -> Iterator[CorpusReader]:
        yield app.corpus.seen_by(Scope("ada"))

    monkeypatch.setattr(mcp_tools, "_search", searched)
    monkeypatch.setattr(mcp_tools, "_reading", reading)
    monkeypatch.setattr(CorpusReader, "every", listed)
    monkeypatch.setattr(results, "every_result", lambda _: nowhere)
    monkeypatch.setattr(app.questions, "answer", answered)
    name = {"ask": "ask_documents", "search": "search_documents", "every": "every_place"}[act]
    asked = "query" if act == "search" else "question"
    tools = mcp_tools.server(app)
    tool = next(one for one in tools._tool_manager.list_tools() if one.name == name)
    names = {one.name for one in fields_of("MCP", act)}
    assert set(tool.parameters["properties"]) == {asked, *names}

    def call(**values: Any) -> None:
        checked = tool.fn_metadata.validate_arguments(values)
        asyncio.run(tool.fn(context=None, **checked))

    call(**{asked: QUESTION, **as_sent("MCP", act)})
    assert_taken(made[0], "MCP", act)
    assert scopes == [Scope("ada")]
    if act == "ask":
        call(**{asked: QUESTION, "answer": "free"})
        assert made[1].mode == "free"  # by its former name
    for one in fields_of("MCP", act):
        if one.most_remote:
            with pytest.raises(ValidationError):
                call(**{asked: QUESTION, one.name: one.most_remote + 1})


def test_the_api_takes_the_fields() -> None:
    model = request_models.with_fields(openai_api.Completion, "API", "ask")
    messages = [{"role": "user", "content": QUESTION}]
    body = model.model_validate({"model": "rag-app", "messages": messages, **as_sent("API", "ask")})
    request = openai_api._ask_request(cast(openai_api.Completion, body), "free")
    assert_taken(request, "API", "ask")


# ---- the page, LangChain ----


def test_the_page_keeps_the_fields_of_a_question() -> None:
    kept = {each.name: each.default for each in fields(Exchange) if each.default is not MISSING}
    named = {one.name for one in fields_of("page", "ask")} - {"history"}  # of the conversation
    assert named <= set(kept)
    assert not {one.name for one in REQUEST_FIELDS if "page" in one.absent} & set(kept)


def test_langchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[SearchRequest] = []

    def search_(_: Corpus, query: str, **of: Any) -> list[Hit]:
        made.append(search_request(query, of))
        return []

    monkeypatch.setattr(Corpus, "search", search_)
    with Corpus(tmp_path) as corpus:
        retriever = RagAppRetriever(corpus=corpus)
        retriever.invoke(QUESTION, **(expected("LangChain", "search") | {"k": 9}))
        with pytest.raises(InvalidRequest, match="no option form"):
            retriever.invoke(QUESTION, form="list")
    assert made[0].k == made[0].passages == 9
    values = taken(made[0])
    rest = {name: value for name, value in expected("LangChain", "search").items() if name != "k"}
    assert {name: values[name] for name in rest} == rest


def test_help_lists_every_field(tmp_path: Path) -> None:
    for command in ("ask", "search", "every", "batch"):
        text = CliRunner().invoke(main, [command, "--help"]).output
        act = cast(Act, "ask" if command == "batch" else command)
        surface: Surface = "batch" if command == "batch" else "command"
        for one in fields_of(surface, act):
            assert one.option in text
            assert not one.former or f"{one.former} " not in text
