"""`rag-app models`: what can write answers here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.lm.server.openai_server import RemoteModel
from indexing.models.files import DEFAULT_GENERATOR
from rag_app.chat import model_choice
from rag_app.cli.main import main
from rag_app.cli.models import measured_speed
from tests.generator.llama_server import packaged_file
from tests.generator.openai_server import running


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty caches, and no server at any usual address."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("indexing.models.local._GGUF_FOLDERS", ())
    monkeypatch.setattr(model_choice, "USUAL", {"nobody": "http://127.0.0.1:9/v1"})
    return tmp_path


def listed() -> list[dict[str, object]]:
    result = CliRunner().invoke(main, ["models", "--json"])
    assert result.exit_code == 0, result.output
    models: list[dict[str, object]] = json.loads(result.stdout)["models"]
    return models


def test_models_of_this_machine(caches: Path) -> None:
    (caches / "own.gguf").write_bytes(packaged_file().read_bytes()[:1000])
    packaged, own = listed()
    assert packaged["name"] == DEFAULT_GENERATOR and packaged["fits"]
    assert own == {
        "name": str(caches / "own.gguf"), "source": "a GGUF file", "bytes": 1000, "fits": True,
        "read": None, "written": None,
    }  # fmt: skip
    text = CliRunner().invoke(main, ["models"]).stdout
    assert "own.gguf\n    a GGUF file, 0.0 GB, fits into memory\n" in text


def test_models_of_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as url:
        monkeypatch.setattr(model_choice, "USUAL", {"Ollama": url})
        names = [one["name"] for one in listed()]
    assert names[1:] == [f"openai:{url}#{one}" for one in ("good", "whole", "slow")]
    assert RemoteModel(str(names[1])).model == "good"


def test_speed_is_measured() -> None:
    read, written = measured_speed(str(packaged_file()))
    assert read > 0 and written > 0


def test_nothing_is_fetched_where_the_hub_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = CliRunner().invoke(main, ["models", "get", "org/model"])
    assert result.exit_code == 1 and "HF_HUB_OFFLINE" in result.output
