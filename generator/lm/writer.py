"""The writer: low-rank adapters with which the packaged model answers from a handful of quotes.

They were trained on QMSum's queries and on questions on passages (`training/writer`), and are
merged into the model when it is loaded. docs/experiments.md has the figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

ADAPTERS = Path(__file__).with_name("writer.safetensors")
FIRST_LAYER = 15
"""The layers before it have no adapters: half of what a step of training costs."""

_LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def adapted(model: nn.Module) -> list[str]:
    """Names of the linear layers that have adapters."""
    names = [name for name, _ in model.named_modules() if name.endswith(_LINEAR)]
    return [name for name in names if int(name.split(".")[2]) >= FIRST_LAYER]
