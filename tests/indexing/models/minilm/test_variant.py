"""A variant of the packaged encoder is a file of changes, and a folder made of both."""

from pathlib import Path

import numpy as np
import pytest
import torch

from indexing.errors import MissingDependency
from indexing.models.files import encoder_weights
from indexing.models.minilm import variant
from indexing.models.minilm.variant import changed


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
