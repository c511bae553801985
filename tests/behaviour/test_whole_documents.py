"""Whole documents to a language model, from the command line, a batch and Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.lm.causal_lm import CausalModel
from generator.settings import GeneratorSettings
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

QUESTION = "Why was the budget cut?"
CUT = "heron-3-budget cut at a sentence"


@pytest.fixture(autouse=True)
def tiny(tiny_model: CausalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CausalModel, "load", lambda *_, **__: tiny_model)


def test_the_command_says_what_was_read(samples_corpus: Corpus) -> None:
    words = ["ask", QUESTION, "--corpus", str(samples_corpus.folder), "--evidence", "documents"]
    words += ["--max-tokens", "5", "-k", "2", "--document", "heron-3-budget"]
    printed = CliRunner().invoke(main, words)
    assert printed.exit_code == 0, printed.output
    assert f"documents: 0 whole, {CUT}" in printed.stdout
    assert "tokens of heron-3-budget" in printed.stdout
    result = CliRunner().invoke(main, [*words, "--prompt-tokens", "900", "--json"])
    values = json.loads(result.stdout)
    assert values["mode"] == "free"
    assert 500 < values["context"][0]["kept"] < 900
    assert CUT in values["configuration"]["shown"]
    refused = CliRunner().invoke(main, [*words, "--decoding", "rag-token"])
    assert refused.exit_code == 1 and "--decoding concat" in refused.stderr


def test_python_and_a_batch_read_them_too(samples_corpus: Corpus, tmp_path: Path) -> None:
    settings = GeneratorSettings(model="tiny", max_new_tokens=5)
    with Corpus(samples_corpus.folder, generator=settings) as corpus:
        answer = corpus.ask(QUESTION, evidence="documents", k=1)
        assert answer.mode == "free" and answer.configuration["shown"].startswith("documents: ")
        assert "shown" not in corpus.ask(QUESTION, mode="free", k=1).configuration
    questions, out = tmp_path / "questions.txt", tmp_path / "answers.jsonl"
    questions.write_text(QUESTION + "\n")
    words = ["batch", str(questions), "--corpus", str(samples_corpus.folder), "--out", str(out)]
    words += ["--evidence", "documents", "--max-tokens", "5", "-k", "1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    (line,) = out.read_text("utf-8").splitlines()
    assert json.loads(line)["settings"]["generator"]["evidence"] == "documents"
    assert json.loads(line)["mode"] == "free"
