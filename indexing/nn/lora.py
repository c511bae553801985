"""Low-rank adapters of linear layers (LoRA: Hu et al. 2021, arXiv 2106.09685): W + B A.

What was tuned is small enough to ship beside the code; it is merged into a model when that is
loaded. An adapter is two tensors by the layer's name, `NAME.a` (r, in) and `NAME.b` (out, r); the
scale alpha / r is in `a` already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn


def merge_lora(model: nn.Module, adapters: Mapping[str, Tensor]) -> None:
    """Add each adapter's product to its layer's weight, in place."""
    for name, module in model.named_modules():
        if f"{name}.a" in adapters:
            delta = adapters[f"{name}.b"].float() @ adapters[f"{name}.a"].float()
            module.weight.data += delta.to(module.weight)
