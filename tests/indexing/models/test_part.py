"""A model for one task: its architecture decides, whatever its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from indexing.errors import ModelError, ModelNotFound, UnsupportedModel
from indexing.models.measured import measured
from indexing.models.part import QUESTION_ANSWERING, SEQUENCES, load_part
from tests.small_models import save_random

KINDS = {QUESTION_ANSWERING: "a model for question answering"}


def test_a_model_of_the_right_architecture_is_loaded(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForQuestionAnswering")
    part = load_part(str(folder), "reader", KINDS, None)
    assert part.kind == QUESTION_ANSWERING
    assert part.longest == 512
    assert part.weights.revision in part.described
    assert part.digest in part.described
    other = save_random(tmp_path / "other", "BertForQuestionAnswering", ("a", "b"))
    assert load_part(str(other), "reader", KINDS, None).digest != part.digest


def test_another_architecture_is_refused_with_what_would_do(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForSequenceClassification")
    with pytest.raises(UnsupportedModel, match=r"is no reader.*ForQuestionAnswering"):
        load_part(str(folder), "reader", KINDS, None)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": None}))
    with pytest.raises(UnsupportedModel, match="not stated"):
        load_part(str(folder), "reranker", {SEQUENCES: "a cross-encoder"}, None)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForQuestionAnswering")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(UnsupportedModel, match="never loaded"):
        load_part(str(folder), "reader", KINDS, None)


def test_code_of_a_model_is_not_run(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForQuestionAnswering")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoModelForQuestionAnswering": "mine.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text("raise SystemExit('run')")
    with pytest.raises(ModelError, match="cannot be loaded as a reader"):
        load_part(str(folder), "reader", KINDS, None)


def test_damage_and_absence_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelNotFound, match="nobody/nothing"):
        load_part("nobody/nothing", "reader", KINDS, None)
    folder = save_random(tmp_path / "model", "BertForQuestionAnswering")
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match="copy or fetch it again"):
        load_part(str(folder), "reader", KINDS, None)


def test_what_was_measured_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    calls: list[int] = []

    def measure() -> dict[str, dict[str, float]]:
        calls.append(1)
        return {"a": {"b": 0.5}}

    assert measured("x", measure) == measured("x", measure) == {"a": {"b": 0.5}}
    assert len(calls) == 1
    (tmp_path / "measured" / "x.json").write_text("[1")
    assert measured("x", measure) == {"a": {"b": 0.5}}
    assert len(calls) == 2
