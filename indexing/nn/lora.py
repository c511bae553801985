"""Low-rank adapters of linear layers (LoRA: Hu et al. 2021, arXiv 2106.09685): W + B A.

What is tuned is small enough to ship beside the code; it is merged into a model when that is
loaded. An adapter is two tensors by the layer's name, `NAME.a` (r, in) and `NAME.b` (out, r); the
scale alpha / r is in `a` already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    import torch
    from torch import nn

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
    import torch

    (states,) = inputs
    inner = states.flatten(0, -2) @ a.T.to(states)
    added = torch.addmm(output.flatten(0, -2), inner, b.T.to(states), alpha=scale)
    return added.view_as(output)


def merge_lora(model: nn.Module, adapters: Mapping[str, Tensor]) -> None:
    """Add each adapter's product to its layer's weight, in place."""
    for name, module in model.named_modules():
        if f"{name}.a" in adapters:
            delta = adapters[f"{name}.b"].float() @ adapters[f"{name}.a"].float()
            module.weight.data += delta.to(module.weight)
