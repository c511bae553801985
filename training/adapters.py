"""Low-rank adapters while they are trained (LoRA: Hu et al. 2021, arXiv 2106.09685): W + B A.

`indexing/models/weight_changes.py` merges them into a model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn


def add_lora(
    model: nn.Module, layers: Sequence[str], *, rank: int, scale: float = 2.0
) -> dict[str, nn.Parameter]:
    """Freeze a model and give its linear layers adapters that are trained.

    Args:
        model: Changed in place.
        layers: Names of its linear layers.
        rank: Of the adapters.
        scale: alpha / r.

    Returns:
        The float32 parameters `NAME.a` and `NAME.b`, of which `b` is 0; `a` is without the scale.
    """
    model.requires_grad_(requires_grad=False)
    parameters: dict[str, nn.Parameter] = {}
    for name in layers:
        layer = model.get_submodule(name)
        assert isinstance(layer, nn.Linear)
        a = nn.Parameter(torch.randn(rank, layer.in_features) / math.sqrt(layer.in_features))
        b = nn.Parameter(torch.zeros(layer.out_features, rank))
        layer.register_forward_hook(partial(_add_update, a, b, scale))
        parameters |= {f"{name}.a": a, f"{name}.b": b}
    return parameters


def _add_update(
    a: Tensor, b: Tensor, scale: float, _: nn.Module, inputs: tuple[Tensor], output: Tensor
) -> Tensor:
    """The layer's output and scale * B A x."""
    (states,) = inputs
    inner = states.flatten(0, -2) @ a.T.to(states)
    added = torch.addmm(output.flatten(0, -2), inner, b.T.to(states), alpha=scale)
    return added.view_as(output)
