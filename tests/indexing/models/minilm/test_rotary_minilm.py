"""`minilm-rope` is the packaged encoder with rotary positions, made from both files."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer, BertModel

from indexing.errors import MissingDependency
from indexing.models.files import encoder_weights
from indexing.models.minilm import rotary_minilm
from indexing.models.minilm.rotary_minilm import CHANGES, changed, renamed

TEXTS = (
    "The launch was moved from March to May because the supplier delivered late.",
    "Ada asked who would pay for the second prototype, and nobody answered.",
)


def test_two_processes_get_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    told: list[str] = []
    first = encoder_weights("minilm-rope", notify=told.append)
    again = encoder_weights("minilm-rope", notify=told.append)
    assert first == again
    assert first.source == "packaged"
    assert len(told) == 1
    assert "writing minilm-rope once" in told[0]
    assert not list(tmp_path.rglob("*.part"))


def test_positions_make_no_difference_to_what_is_renamed() -> None:
    """With one token, rotary and absolute models differ by the table's row alone."""
    folder = encoder_weights().folder
    weights = renamed(load_file(folder / "model.safetensors"))
    bert = BertModel.from_pretrained(folder, local_files_only=True).eval()
    rotary = AutoModel.from_config(rotary_minilm.configuration()).eval()
    rotary.load_state_dict(weights, strict=True)
    table = bert.embeddings.position_embeddings.weight.data
    table[:] = table[: rotary_minilm.WINDOW].mean(0)
    ids = torch.tensor([[2_000]])
    with torch.inference_mode():
        expected = bert(input_ids=ids).last_hidden_state
        found = rotary(input_ids=ids).last_hidden_state
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)


def test_changes_are_steps_of_a_scale_a_row() -> None:
    packaged = {"a.weight": torch.ones(2, 3), "b.bias": torch.zeros(2)}
    steps = torch.tensor([[1, -2, 0], [127, 0, 3]], dtype=torch.int8)
    changes = {
        "a.weight.steps": steps,
        "a.weight.scale": torch.tensor([0.5, 0.1]),
        "b.bias": torch.tensor([1.0, 2.0]),
    }
    found = changed(changes, packaged)
    expected = np.array([[1.5, 0.0, 1.0], [13.7, 1.0, 1.3]], np.float32)
    np.testing.assert_allclose(found["a.weight"].numpy(), expected, rtol=1e-6)
    assert found["b.bias"].tolist() == [1.0, 2.0]


def test_its_vectors_are_near_those_of_the_packaged_encoder() -> None:
    """The file's own run measured 0.96 on held-out texts of this length."""
    vectors = []
    for name in ("all-MiniLM-L6-v2", "minilm-rope"):
        folder = encoder_weights(name).folder
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        inputs = tokenizer(list(TEXTS), padding=True, return_tensors="pt")
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"][..., None]
        vectors.append(torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1))
    near = (vectors[0] * vectors[1]).sum(-1)
    assert near.min() > 0.93
    assert (vectors[0][0] @ vectors[1][1]) < 0.5


def test_the_file_is_small() -> None:
    assert CHANGES.stat().st_size < 15e6


def test_an_old_transformers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    monkeypatch.setattr(rotary_minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'transformers>=5.4'"):
        encoder_weights("minilm-rope")
