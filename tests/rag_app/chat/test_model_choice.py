"""Which model writes: chosen, kept, and by whom."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.errors import InvalidRequest, ModelError, ServerFailed
from indexing.models.files import DEFAULT_GENERATOR
from rag_app.chat.model_choice import FILE, ModelChoice
from rag_app.corpus.corpus import Corpus
from tests.generator.openai_server import ANSWER, KEY, running


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus") as corpus:
        yield corpus


def test_a_server_is_listed_tested_and_used(corpus: Corpus, url: str) -> None:
    choice = ModelChoice(corpus, fixed=False)
    found = choice.at(url, "", None)
    assert found.models == ("good", "whole", "slow") and not found.elsewhere
    name = found.full_name("locked")
    with pytest.raises(ServerFailed, match="refuses the key"):
        choice.test(name, "", None)
    trial = choice.test(name, KEY, None)
    assert ANSWER.startswith(trial.text) and trial.seconds > 0
    assert choice.current == DEFAULT_GENERATOR and not (corpus.folder / FILE).exists()

    choice.use(name, KEY, None)
    assert choice.current == name
    assert json.loads((corpus.folder / FILE).read_text()) == {"model": name, "keys": {url: KEY}}
    assert (corpus.folder / FILE).stat().st_mode & 0o777 == 0o600
    assert list(corpus.folder.glob(".model*")) == [corpus.folder / FILE]
    choice.test(name, "", None)  # with the key that is kept
    corpus.add_text("The ferry sails at nine.", name="ferry")
    answer = corpus.ask("When does the ferry sail?", mode="free")
    assert answer.model == name and answer.text.startswith("The ferry sails")

    assert choice.forget_keys(None) == 1 and KEY not in (corpus.folder / FILE).read_text()
    with pytest.raises(ServerFailed, match="refuses the key"):
        corpus.ask("When does the ferry sail?", mode="free")


def test_a_choice_is_restored_unless_a_model_was_named(corpus: Corpus, url: str) -> None:
    ModelChoice(corpus, fixed=False).use(f"openai:{url}#good", "", None)
    with Corpus(corpus.folder) as other:
        ModelChoice(other, fixed=False).restore()
        assert other.generator_settings.model == f"openai:{url}#good"
    with Corpus(corpus.folder) as other:
        named = ModelChoice(other, fixed=True)
        named.restore()
        assert other.generator_settings.model == DEFAULT_GENERATOR
        with pytest.raises(InvalidRequest, match="--generator"):
            named.use(DEFAULT_GENERATOR, "", None)
    for damage in ("", "[]", '{"model": 1, "keys": 2}', '{"model": "openai:?", "keys": {}}'):
        (corpus.folder / FILE).write_text(damage)
        with Corpus(corpus.folder) as other:
            ModelChoice(other, fixed=False).restore()
            assert other.generator_settings.model == DEFAULT_GENERATOR


def test_with_logins_the_first_chooses(corpus: Corpus, url: str) -> None:
    choice = ModelChoice(corpus, fixed=False, people=("ann", "bob"))
    assert choice.refusal("ann") == "" and "ann chooses" in choice.refusal("bob")
    for change in (
        lambda: choice.look("bob"),
        lambda: choice.at(url, "", "bob"),
        lambda: choice.test(DEFAULT_GENERATOR, "", "bob"),
        lambda: choice.use(f"openai:{url}#good", "", "bob"),
        lambda: choice.forget_keys("bob"),
    ):
        with pytest.raises(InvalidRequest, match="you may not choose"):
            change()
    choice.use(f"openai:{url}#good", "", "ann")
    assert choice.current.endswith("#good")


def test_no_name_leads_to_a_download(corpus: Corpus, tmp_path: Path) -> None:
    choice = ModelChoice(corpus, fixed=False)
    assert any(one.name == DEFAULT_GENERATOR for one in choice.local())
    for name in ("gpt2", "some/model", "", "../models/x", "http://127.0.0.1/v1#m"):
        with pytest.raises(InvalidRequest, match="no model on this machine"):
            choice.use(name, "", None)
    for folder in (tmp_path, tmp_path / "missing.gguf"):
        with pytest.raises(ModelError):
            choice.use(str(folder), "", None)
    assert choice.current == DEFAULT_GENERATOR


def test_the_environments_key_stays_for_servers_that_were_named_at_the_start(
    corpus: Corpus, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "RAG_APP_API_KEY", KEY)
    choice = ModelChoice(corpus, fixed=False)
    with pytest.raises(ServerFailed, match="refuses the key"):
        choice.test(f"openai:{url}#locked", "", None)
