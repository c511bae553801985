"""A cell that is stopped goes on as if it had not been, and what it learns it answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch

from training.cope import cell as cells
from training.cope import selective_copy
from training.cope.cell import Cell, Training, outcome, run, trained
from training.cope.table import table
from training.cope.task import Task
from training.cope.transformer import POSITIONS, Positions


def _small() -> Task:
    """Say the only token among two blanks."""
    splits = {"": partial(selective_copy.sequences, copied=1, blanks=2)}
    return Task("small", selective_copy.COLON + 1, 4, 3, splits)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_checkpoint_is_where_training_goes_on(positions: Positions, tmp_path: Path) -> None:
    cell, path = Cell(_small(), positions, seed=1, steps=6, batch=4), tmp_path / "a.safetensors"
    whole, first = Training(cell), Training(cell)
    for _ in range(6):
        whole.advance()
    for _ in range(3):
        first.advance()
    first.save(path)
    again = Training.begun(cell, path)
    for _ in range(3):
        again.advance()
    assert again.losses == whole.losses
    for name, expected in whole.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], expected)


def test_what_is_learnt_is_tested_kept_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "WARMUP", 20)
    cell = Cell(_small(), "cope", seed=0, steps=150, batch=32)
    before = cells.error(Training(cell).model, cell.task.trained_on, cells.chance(cell, -1))
    found = run(cell, tmp_path, lambda _: None)
    assert before > 0.8
    assert found.errors[""] < 0.02
    assert outcome(cell, tmp_path) == found
    assert not list(tmp_path.glob("*.checkpoint.*"))
    monkeypatch.setattr(cells, "Training", None)  # nothing is trained twice
    assert run(cell, tmp_path, lambda _: None) == found
    row = table([cell, Cell(_small(), "rope", 0, 150, 32)], tmp_path).splitlines()[-1]
    assert f"{100 * found.errors['']:.1f}" in row
    assert "not run" in row
    weights = trained(cell, tmp_path).maps(torch.tensor([[0, 5, 0, 16]]))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 1, 4, 4))
    assert weights[..., 0, 1:].max() == 0  # nothing after it
