"""Tuned positions: what is trained, what is kept, what is written and read again."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

from indexing.errors import InvalidRequest, UnreadableFile, UnsupportedModel
from indexing.extension import (
    EntropyScaling,
    InterpolatedPositions,
    TunedPositions,
    extend,
    restore,
)
from rag_app.laboratory.tuning.training import Tuning, TuningResult, adjacent_spans, tune
from tests.indexing.extension.extension_models import WINDOW, build, ids_of, states, text
from tests.indexing.extension.extension_oracle import Oracle, Setting
from tests.indexing.extension.test_method import same, snapshot

pytest.importorskip("datasets")

TARGET = 3 * WINDOW + 4
S = 4
HOW = Tuning(epochs=4, learning_rate=0.05, batch_size=8, warmup_steps=2, span_words=12)


def documents() -> list[str]:
    """Each document keeps to a few words of its own, so that its spans resemble each other."""
    found = []
    for number in range(40):
        own = text(4, seed=number).split()
        found.append(" ".join(own[(i * i + number) % 4] for i in range(48)))
    return found


@pytest.fixture(scope="module", params=["bert", "roberta"])
def trained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SentenceTransformer, TuningResult]:
    folder = tmp_path_factory.mktemp("tuned")
    os.environ["WANDB_DISABLED"] = "true"
    model = build(request.param, folder)
    model.encode(["w1"])
    before = snapshot(model)
    tuned = tune(model, documents(), folder / "new.safetensors", max_length=TARGET, tuning=HOW)
    assert same(before, snapshot(model))
    return model, tuned


def new_rows(tuned: TuningResult) -> torch.Tensor:
    with safe_open(tuned.positions.path, framework="pt") as file:
        return file.get_tensor("new")


def test_the_loss_falls(trained: tuple[SentenceTransformer, TuningResult]) -> None:
    losses = trained[1].losses
    assert len(losses) == HOW.epochs
    assert losses[-1] < losses[0] - 0.05


def test_the_file_names_its_base(trained: tuple[SentenceTransformer, TuningResult]) -> None:
    model, tuned = trained
    record = tuned.positions.record()
    assert (record.original, record.max_length) == (WINDOW, TARGET)
    assert record.base == model[0].auto_model.name_or_path
    assert new_rows(tuned).shape == (WINDOW, S - 1, 32)
    assert tuned.positions.path.stat().st_size < WINDOW * (S - 1) * 32 * 4 + 1000


def test_rows_have_left_where_they_started(
    trained: tuple[SentenceTransformer, TuningResult],
) -> None:
    """Every new row within reach of an offset was trained, and none is not a number."""
    model, tuned = trained
    inner = model[0].auto_model
    own = inner.embeddings.position_embeddings.weight[
        inner.embeddings.position_embeddings.weight.shape[0] - WINDOW :
    ]
    moved = []
    for i in range(WINDOW):
        for r in range(1, S):
            right = own[min(i + 1, WINDOW - 1)]
            start = (1 - r / S) * own[i] + r / S * right
            moved.append(float((new_rows(tuned)[i, r - 1] - start).abs().max().detach()))
    reached = [S * i + r for i in range(WINDOW) for r in range(1, S)]
    for row, distance in zip(reached, moved, strict=True):
        assert (distance > 1e-4) == (row < TARGET - 18), row


def test_values(trained: tuple[SentenceTransformer, TuningResult]) -> None:
    """The oracle with the grown table: rows i beyond the window, rows i * s within it."""
    model, tuned = trained
    oracle = Oracle(model[0].auto_model)
    name = "embeddings.position_embeddings.weight"
    first = len(oracle.w[name]) - WINDOW
    grown = np.zeros((WINDOW * S, 32))
    grown[::S] = oracle.w[name][first:]
    for r in range(1, S):
        grown[r::S] = new_rows(tuned)[:, r - 1].double().numpy()
    texts = [text(words) for words in (1, 12, 30, 31, 60, 98)]
    for entropy in (False, True):
        extend(model, TunedPositions(tuned.positions.path), entropy=entropy)
        got = states(model, texts)
        restore(model)
        for words, hidden in zip(texts, got, strict=True):
            ids = ids_of(model, words)
            rows = grown if len(ids) > WINDOW else grown[::S]
            oracle.w[name] = np.concatenate([np.zeros((first, 32)), rows])
            oracle.known.clear()
            expected = oracle.states(ids, Setting(entropy=entropy))
            np.testing.assert_allclose(hidden, expected, atol=2e-5)


def test_short_texts_are_untouched(trained: tuple[SentenceTransformer, TuningResult]) -> None:
    model, tuned = trained
    texts = [text(words) for words in (1, 9, 30)]
    untouched = model.encode(texts)
    long = model.encode([text(80)])
    before = snapshot(model)
    with tuned.positions(model), EntropyScaling()(model):
        np.testing.assert_array_equal(model.encode(texts), untouched)
        assert np.abs(model.encode([text(80)]) - long).max() > 1e-3
        assert model.max_seq_length == TARGET
    assert same(before, snapshot(model))


def test_without_training_it_is_interpolation(
    trained: tuple[SentenceTransformer, TuningResult], tmp_path: Path
) -> None:
    model = trained[0]
    path = tmp_path / "new.safetensors"
    still = Tuning(epochs=1, learning_rate=0.0, span_words=12)
    tuned = tune(model, documents(), path, max_length=TARGET, tuning=still)
    with InterpolatedPositions(max_length=TARGET)(model):
        expected = model.encode([text(80), text(4)])
    with tuned.positions(model):
        np.testing.assert_allclose(model.encode([text(80), text(4)]), expected, atol=1e-6)


def test_another_model_is_refused(
    trained: tuple[SentenceTransformer, TuningResult], models: dict[str, SentenceTransformer]
) -> None:
    for family in ("mpnet", "distilbert"):
        with pytest.raises(UnsupportedModel, match="tune them for this model"):
            extend(models[family], trained[1].positions)
    with pytest.raises(UnsupportedModel, match="it supports: none, pcw, gp, pi"):
        extend(models["llama"], trained[1].positions)


def test_files_that_are_none(models: dict[str, SentenceTransformer], tmp_path: Path) -> None:
    junk, other, short = (tmp_path / name for name in ("junk", "other", "short"))
    junk.write_bytes(b"\xff" * 100)
    save_file({"new": torch.zeros(3)}, other)
    said = {"format": "rag-app positions 2", "base": "x", "digest": "y"}
    save_file({"new": torch.zeros(3)}, short, metadata={**said, "original": "3", "max_length": "9"})
    for path in (tmp_path / "missing", junk, other, short):
        with pytest.raises(UnreadableFile, match="name a file that `rag-app tune` has written"):
            extend(models["bert"], TunedPositions(path))


def test_what_cannot_be_tuned(models: dict[str, SentenceTransformer], tmp_path: Path) -> None:
    path = tmp_path / "new.safetensors"
    with pytest.raises(UnsupportedModel, match="position tuning is not defined for LlamaModel"):
        tune(models["llama"], documents(), path, max_length=TARGET)
    with pytest.raises(InvalidRequest, match="longer max_length"):
        tune(models["bert"], documents(), path, max_length=WINDOW)
    with pytest.raises(InvalidRequest, match="longer documents"):
        tune(models["bert"], ["too short"], path, max_length=TARGET)
    extend(models["bert"], "pi", max_length=TARGET)
    with pytest.raises(InvalidRequest, match="restore it"):
        tune(models["bert"], documents(), path, max_length=TARGET)
    restore(models["bert"])
    assert not path.exists()


def test_spans() -> None:
    words = [str(number) for number in range(11)]
    assert adjacent_spans([" ".join(words), "a b c"], words=2) == [
        ("0 1", "2 3"),
        ("4 5", "6 7"),
    ]
