"""Quotes or generated answers: when a model is trusted, and that figures are stored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generator.answer import Answer
from generator.generator import Generator
from generator.lm import calibration_record
from generator.lm import calibration_record as answer_mode
from generator.lm.calibration_record import CalibrationRecord, find_record, save_record, usual
from generator.lm.ms_poe_policy import choose_policy
from generator.request import AskRequest
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.calibration.faithfulness import Faithfulness, decide, measure
from tests.own_cache import use_own_cache

SERVER = "openai:http://localhost:1/v1#m"
QUESTIONS = [
    {"question": "When does the ferry sail?", "answerable": True},
    {"question": "What does the ferry carry?", "answerable": True},
    {"question": "Who won the chess match in Oslo?", "answerable": False},
]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_APP_DATA", str(tmp_path / "data"))
    use_own_cache(tmp_path / "cache", monkeypatch)
    monkeypatch.setattr(calibration_record, "SHIPPED", tmp_path / "shipped")
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "ferry.txt").write_text("The ferry sails at nine. It carries forty cars and a dog.")
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in QUESTIONS))
    return file


@pytest.mark.parametrize(
    ("free", "mode"),
    [
        (Faithfulness(90, 0.95, 0.5, 0.1), "free"),
        (Faithfulness(90, 0.89, 0.5, 0.1), "quote"),  # too much that nothing supports
        (Faithfulness(90, 0.95, 0.1, 0.1), "quote"),  # talks where there is nothing to say
        (Faithfulness(90, 0.95, 0.5, 0.2), "quote"),  # keeps silent where there is
        (Faithfulness(90, 0.95, None, 0.1), "quote"),
    ],
)
def test_when_generated_answers_become_the_default(free: Faithfulness, mode: str) -> None:
    quote = Faithfulness(90, 1.0, 0.2, 0.1)
    decision, reason = decide(quote, free)
    assert decision == mode
    assert f"{free.supported:.0%} of generated sentences" in reason


def test_the_record_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_mode, "generator_revision", lambda name: "2")
    assert (usual("m").mode, "never measured" in usual("m").reason) == ("quote", True)
    save_record(CalibrationRecord("m", "1", answer="free", answer_reason="true"))
    assert (usual("m").mode, "another revision" in usual("m").reason) == ("quote", True)
    save_record(CalibrationRecord("m", "2", answer="free", answer_reason="true"))
    assert str(usual("m")) == "free (measured: true)"
    save_record(CalibrationRecord("m", "2", answer="quote", answer_reason="invents"))
    assert str(usual("m")) == "quote (measured: invents)"
    save_record(CalibrationRecord(SERVER, "", answer="free", answer_reason="true"))
    assert usual(SERVER).mode == "free"


def test_both_parts_of_a_verdict_stay_together() -> None:
    save_record(CalibrationRecord("m", "1", None, "no gain", answer="free", answer_reason="true"))
    known = find_record("m", "1")
    assert known is not None
    save_record(replace(known, reason="still no gain"))
    again = find_record("m", "1")
    assert again == replace(known, reason="still no gain")
    assert again is not None and again.answer == "free"

    class Model:
        name, revision = "m", "2"

    save_record(CalibrationRecord("m", "2", answer="free", answer_reason="true"))
    assert "never calibrated" in choose_policy("calibrated", Model()).reason  # type: ignore[arg-type]


def test_every_question_is_asked_once(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, str]] = []

    def ask(_: object, question: str, *, mode: Any, **__: object) -> Answer:
        calls.append((question, mode))
        if "chess" in question:
            return Answer(question, "-", seconds={"total": 1.0}, abstained=True)
        unsupported = ("It flies.",) if mode == "free" and "carry" in question else ()
        text = "It sails. It flies."
        return Answer(question, text, unsupported=unsupported, seconds={"total": 1.0}, mode=mode)

    monkeypatch.setattr(Corpus, "ask", ask)
    settings = GeneratorSettings(model=SERVER)
    where: dict[str, Any] = {"folder": tmp_path / "corpus", "cache": tmp_path / "scores.jsonl"}
    record = measure(data, settings, **where)
    assert (record.model, record.revision, record.answer) == (SERVER, "", "quote")
    assert record.answers["quote"]["supported"] == 1
    assert record.answers["free"] == {
        "questions": 3, "supported": 0.75, "rightly_withheld": 1.0, "wrongly_withheld": 0.0,
    }  # fmt: skip
    assert len(calls) == 6
    assert measure(data, settings, **where) == record
    assert len(calls) == 6
    fewer = measure(data, settings, questions=2, **where)
    assert fewer.answers["free"]["questions"] == 2
    assert len(calls) == 6
    measure(data, replace(settings, max_new_tokens=9), **where)
    assert len(calls) == 12

    words = ["calibrate", "--part", "answers", "--model", SERVER, "--data", str(data)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "75.0%" in result.stdout and "Verdict: quote" in result.stdout
    assert usual(SERVER).reason.startswith("measured: on 3 questions, 75% of generated sentences")
    result = CliRunner().invoke(main, [*words, "--json"])
    assert json.loads(result.stdout)["answer"]["answers"]["quote"]["questions"] == 3
    refused = CliRunner().invoke(main, ["calibrate", "--part", "positions", "--model", SERVER])
    assert refused.exit_code == 1 and "--part answers" in refused.stderr


def test_without_an_answer_asked_for_the_verdict_counts() -> None:
    generator = Generator(GeneratorSettings(model=SERVER), embed=lambda _: pytest.fail("asked"))
    assert generator._mode(AskRequest("Why?")).mode == "quote"
    save_record(CalibrationRecord(SERVER, "", answer="free", answer_reason="true"))
    assert generator._mode(AskRequest("Why?")).mode == "free"
    assert str(generator._mode(AskRequest("Why?", "quote"))) == "quote (as asked)"
    quoting = Generator(GeneratorSettings(SERVER, answer="quote"), embed=lambda _: pytest.fail(""))
    assert str(quoting._mode(AskRequest("Why?"))) == "quote (as asked)"
    with pytest.raises(InvalidRequest, match="quote or free"):
        GeneratorSettings(answer="both")  # type: ignore[arg-type]
