"""One form of an answer: every surface writes it, and what earlier versions wrote is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from generator.answer import (
    NOT_SAID,
    Answer,
    Citation,
    ContextEntry,
    Responsibility,
    SentenceSupport,
    ShortAnswer,
    ShownPassage,
    TokenShares,
)
from generator.answer_json import VERSION, as_json, from_json, schema
from rag_app.batch.questions import Question
from rag_app.batch.run import run
from rag_app.chat.conversation import Conversation, Exchange, to_json
from rag_app.chat.page import export
from rag_app.chat.web import openai_api
from rag_app.chat.web.mcp import results
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

SCHEMA = Path(__file__).parents[2] / "docs" / "answer.schema.json"
QUESTION, OFF_TOPIC = "When does the ferry sail?", "Which vaccine did Zanzibar order?"
CITATION = Citation(1, "d", "/a.vtt", "A", "", 3, 9, "quoted", "Ann", 61.5, 2, True, 1.0, 0.9)
EVERYTHING = Answer(
    "Why?",
    "Ann: quoted [1]",
    "Why so?",
    citations=(
        replace(CITATION, share=0.5, figures=("a chart",), place="page 2"),
        replace(CITATION, marker=2, verified=False, supported=True, probability=0.8),
    ),
    short=ShortAnswer.within(CITATION, 5, 9, 0.8),
    probability=0.9,
    sentences=(SentenceSupport("A doubt.", "unsupported"),),
    unsupported=("A doubt.",),
    context=(ContextEntry("d", "A", 100, 40, 60),),
    seconds={"total": 0.5},
    mode="free",
    model="m",
    decoding="rag-token",
    responsibility=Responsibility(
        (ShownPassage("d", "A", 3, 9, 0.5, 0.25, 1),), (TokenShares("Ann", (1.0,)),)
    ),
    configuration={"decoding": "as asked"},
    kind="speakers",
    read_as="a request for the speakers",
)
CLOSEST = replace(CITATION, verified=False, overlap=0.0, similarity=0.0)
WITHHELD = Answer("Who?", NOT_SAID, closest=(CLOSEST,), probability=0.1, abstained=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("answers") / "corpus") as corpus:
        corpus.add_text("Ida: The ferry sails at nine. Ada is its captain.", name="ferry")
        yield corpus


def valid(values: Any) -> dict[str, Any]:
    """The values of an answer, once they are what the schema in the documentation says."""
    jsonschema.validate(values, json.loads(SCHEMA.read_text()))
    assert isinstance(values, dict) and values["version"] == VERSION
    return values


def test_the_schema_in_the_documentation_is_that_of_the_form() -> None:
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Answer"}
    assert json.loads(SCHEMA.read_text()) == {**about, **schema()}, "write it with: make docs"
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("answer", [EVERYTHING, WITHHELD])
def test_an_answer_comes_back_as_it_was(answer: Answer) -> None:
    values = valid(json.loads(json.dumps(as_json(answer))))
    assert from_json(values) == answer


def test_an_answer_of_the_second_version_is_read() -> None:
    values = json.loads(json.dumps(as_json(EVERYTHING)))
    values |= {"version": 2, "made": values.pop("configuration")}
    assert from_json(values) == EVERYTHING


def test_an_answer_without_a_version_is_read() -> None:
    values = json.loads(json.dumps(as_json(EVERYTHING)))
    values["made"] = values.pop("configuration")
    del values["version"]
    for citation in values["citations"]:
        del citation["time_seconds"]
    whole = tuple(replace(one, time=61.0) for one in EVERYTHING.citations)
    assert from_json(values) == replace(EVERYTHING, citations=whole)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("answer", None), ("citations", "x"), ("citations.0", 3), ("citations.0.start", "3"),
        ("citations.0.verified", 1), ("citations.0.page", "two"), ("mode", "both"),
        ("context.0.kept", 1.5), ("seconds", {"total": "long"}), ("unsupported.0", 1),
    ],
)  # fmt: skip
def test_something_else_is_no_answer(path: str, wrong: object) -> None:
    values = json.loads(json.dumps(as_json(EVERYTHING)))
    place, *_ = at = values, *path.split(".")
    for name in at[1:-1]:
        place = place[int(name) if name.isdecimal() else name]
    place[int(at[-1]) if at[-1].isdecimal() else at[-1]] = wrong
    with pytest.raises(ValueError, match=path.partition(".")[0]):
        from_json(values)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values, schema())


@pytest.mark.parametrize("question", [QUESTION, OFF_TOPIC])
def test_every_surface_writes_it(question: str, corpus: Corpus, tmp_path: Path) -> None:
    answer = corpus.ask(question)
    expected = valid(json.loads(json.dumps(as_json(answer))))

    def same(values: Any, *, path: bool = True) -> None:
        for name in ("text", "answer", "citations", "closest"):
            if name in values and path:
                assert values[name] == expected[name]
        assert valid(values)["answer"] == expected["answer"]

    words = ["ask", question, "--corpus", str(corpus.folder), "--json"]
    same(json.loads(CliRunner().invoke(main, words).stdout))
    run(corpus, [Question("1", question)], tmp_path / "answers.jsonl")
    line = json.loads((tmp_path / "answers.jsonl").read_text())
    assert valid(line) and from_json(line).citations == answer.citations
    for quote in (*line["citations"], *line["closest"]):  # kept, to find it in a later version
        said = corpus.document(quote["document"]).text[quote["start"] - len(quote["before"]) :]
        assert said.startswith(f"{quote.pop('before')}{quote['quote']}{quote.pop('after')}")
        assert quote.pop("label") == quote["speaker"]
    same(line)
    same(json.loads(json.dumps(openai_api._extra_fields(answer)["rag_app"])), path=False)
    same(results.answer_result(answer).model_dump(mode="json"), path=False)
    told = Conversation.new().followed_by(
        Exchange(question, state="done", text=answer.text, answer=answer)
    )
    same(json.loads(to_json(told))["exchanges"][0]["answer"])
    same(json.loads(export.as_text(told))["exchanges"][0]["answer"])
