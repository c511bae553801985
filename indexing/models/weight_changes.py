"""The changes that tuning made to a packaged encoder, in a quarter of its size.

Of each matrix the difference in eight bits with a scale a row (as in LLM.int8: Dettmers et al.
2022, arXiv 2208.07339), `encoder.NAME.rows` (out, in) int8 and `encoder.NAME.scale` (out,); of
vectors the difference in float32, `encoder.NAME`. Heads lie beside them by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn

ENCODER = "encoder."
"""Before the names of an encoder's parameters."""


def add_changes(encoder: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Add what a file holds to an encoder's parameters, in place."""
    for name, parameter in encoder.named_parameters():
        change = tensors.get(f"{ENCODER}{name}")
        rows = tensors.get(f"{ENCODER}{name}.rows")
        if rows is not None:
            change = rows.float() * tensors[f"{ENCODER}{name}.scale"][:, None]
        if change is not None:
            parameter.data += change.to(parameter)


def changes(tuned: Mapping[str, Tensor], packaged: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors for a file: what tuning added to packaged parameters, and heads as they are.

    Args:
        tuned: By name; those of the encoder begin with `ENCODER`.
        packaged: The encoder's before tuning, by the same names.
    """
    import torch

    tensors: dict[str, Tensor] = {}
    for name, each in tuned.items():
        if not name.startswith(ENCODER):
            tensors[name] = each.detach().float().contiguous()
            continue
        added = each.detach().float() - packaged[name].detach()
        if added.ndim == 2:
            scale = added.abs().amax(1).clamp(min=1e-12) / 127
            tensors[f"{name}.rows"] = (added / scale[:, None]).round().to(torch.int8)
            tensors[f"{name}.scale"] = scale
        else:
            tensors[name] = added.contiguous()
    return tensors


def merge_lora(model: nn.Module, adapters: Mapping[str, Tensor]) -> None:
    """Add low-rank adapters (LoRA: Hu et al. 2021, arXiv 2106.09685) to weights, in place.

    An adapter is two tensors, `NAME.a` (r, in) and `NAME.b` (out, r); its scale is in `a` already.
    """
    for name, module in model.named_modules():
        if f"{name}.a" in adapters:
            delta = adapters[f"{name}.b"].float() @ adapters[f"{name}.a"].float()
            module.weight.data += delta.to(module.weight)
