"""A model in training, in one file: its parameters, what AdamW keeps of them, and notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import AdamW

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def save(
    path: Path, parameters: Mapping[str, Tensor], optimizer: AdamW, notes: Mapping[str, Any]
) -> None:
    """Write a file that is there whole or not at all."""
    tensors = {}
    for name, each in parameters.items():
        tensors[f"weights.{name}"] = each.detach()
        state = optimizer.state.get(each, {})
        tensors |= {f"{moment}.{name}": state[moment] for moment in _MOMENTS if state}
    unfinished = path.with_suffix(".unfinished")
    save_file(tensors, unfinished, {"run": json.dumps(notes)})
    unfinished.replace(path)


def load(path: Path, parameters: Mapping[str, Tensor], optimizer: AdamW) -> dict[str, Any]:
    """Bring parameters and optimizer to where they were; the notes."""
    with safe_open(path, framework="pt") as file:
        names = {*file.keys()}
        for name, each in parameters.items():
            each.data.copy_(file.get_tensor(f"weights.{name}"))
            if f"step.{name}" in names:
                state = {moment: file.get_tensor(f"{moment}.{name}") for moment in _MOMENTS}
                optimizer.state[each] = state
        notes: dict[str, Any] = json.loads(file.metadata()["run"])
    return notes
