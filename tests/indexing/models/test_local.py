"""Language models that are on this machine: the packaged one, and those of the hub's cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexing.models.files import DEFAULT_GENERATOR
from indexing.models.local import LocalModel, local_generators


def snapshot(cache: Path, name: str, kind: str, *weights: str) -> None:
    """A repository as the hub's cache has it."""
    folder = cache / f"models--{name.replace('/', '--')}"
    files = folder / "snapshots" / "a1"
    files.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("a1")
    (files / "config.json").write_text(json.dumps({"architectures": [kind]}))
    for each in weights:
        (files / each).write_bytes(b"")


def test_language_models_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    packaged = LocalModel(DEFAULT_GENERATOR, "packaged")
    assert local_generators() == (packaged,)
    snapshot(tmp_path, "one/writer", "LlamaForCausalLM", "model.safetensors")
    snapshot(tmp_path, "one/encoder", "BertModel", "model.safetensors")
    snapshot(tmp_path, "one/pickled", "LlamaForCausalLM", "pytorch_model.bin")
    (tmp_path / "models--one--broken" / "snapshots" / "b").mkdir(parents=True)
    assert local_generators() == (packaged, LocalModel("one/writer", "cache"))
