"""Language models that are on this machine: the packaged one, and those of the hub's cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexing.models.files import DEFAULT_GENERATOR
from indexing.models.local import LocalModel, free_memory, gguf_files, local_generators


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


def test_gguf_files(tmp_path: Path) -> None:
    for name in ("b.gguf", "below/a.gguf", "mmproj-b.gguf", "c-00001-of-00002.gguf", "other.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "c-00002-of-00002.gguf").write_bytes(b"12345")
    files = gguf_files([tmp_path, tmp_path / "missing"])
    names = [str(tmp_path / one) for one in ("b.gguf", "below/a.gguf", "c-00001-of-00002.gguf")]
    assert [one.name for one in files] == names
    assert {(one.source, one.bytes) for one in files} == {("file", 5)}


def test_whether_a_model_fits() -> None:
    free = free_memory()
    if free is None:
        pytest.skip("this system does not say how much memory is free")
    assert LocalModel("small", "file", 1000).fits
    assert LocalModel("large", "file", 10**15).fits is False
    assert LocalModel("unknown", "file").fits is None
