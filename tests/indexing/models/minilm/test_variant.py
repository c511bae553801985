"""A variant of the packaged encoder is a file of changes, and a folder made of both."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from indexing.errors import MissingDependency
from indexing.models.files import encoder_weights
from indexing.models.minilm import variant
from indexing.models.minilm.variant import Variant, changed


def test_a_folder_is_made_once_of_the_packaged_files_and_the_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a few numbers: a whole model is 90 MB, more than some machines have in /tmp."""
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    packaged, changes = tmp_path / "packaged", tmp_path / "changes.safetensors"
    (packaged / "1_Pooling").mkdir(parents=True)
    (packaged / "1_Pooling" / "config.json").write_text("{}")
    (packaged / "vocab.txt").write_text("[UNK]\n")
    old = {
        "embeddings.token_type_embeddings.weight": torch.ones(1, 2),
        "embeddings.position_embeddings.weight": torch.full((4, 2), 2.0),
        "encoder.layer.0.attention.self.query.bias": torch.ones(2),
        "pooler.dense.bias": torch.ones(2),
    }
    save_file(old, packaged / "model.safetensors")
    save_file({"bias": torch.zeros(2, dtype=torch.float16)}, changes)
    few = Variant(
        "minilm-few",
        changes,
        names={"attention.self.query": "query"},
        configure=lambda into: (into / "config.json").touch(),
    )
    told: list[str] = []
    first, again = (few.folder(packaged, revision="1", notify=told.append) for _ in range(2))
    assert first == again == tmp_path / "cache" / "models" / "minilm-few-1"
    assert len(told) == 1
    assert "writing minilm-few once" in told[0]
    files = {str(file.relative_to(first)) for file in first.rglob("*") if file.is_file()}
    assert files == {"1_Pooling/config.json", "vocab.txt", "config.json", "model.safetensors"}
    weights = load_file(first / "model.safetensors")
    assert {name: each.tolist() for name, each in weights.items()} == {
        "embeddings.token_type_embeddings.weight": [[3.0, 3.0]],
        "layers.0.query.bias": [1.0, 1.0],
        "bias": [0.0, 0.0],
    }
    assert not list(tmp_path.rglob("*.part"))


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


@pytest.mark.parametrize("name", ["minilm-rope", "minilm-cope"])
def test_an_old_transformers_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    monkeypatch.setattr(variant, "find_spec", lambda module: None)
    with pytest.raises(MissingDependency, match=r"pip install 'transformers>=5.4'"):
        encoder_weights(name)
