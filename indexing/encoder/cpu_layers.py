"""The quickest way in which this CPU computes the layers of a model, exact to rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from indexing.nn.hooks import override_attribute

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class CpuLayers:
    """What was changed in a model."""

    compiled: int  # how many layers of a transformer run in compiled code
    packed: int  # how many linear layers have packed weights


@contextmanager
def cpu_layers(model: nn.Module, *, rows: int, plain: bool = True) -> Iterator[CpuLayers]:
    """Lets the layers of a model run in compiled code, else with packed weights, inside the block.

    Args:
        model: Any; what neither is for stays as it is.
        rows: Tokens at once for which weights are packed.
        plain: Whether nothing else changes what its layers compute.
    """
    from indexing.encoder.compiled_bert import compiled_bert

    with ExitStack() as stack:
        compiled = stack.enter_context(compiled_bert(model)) if plain else 0
        yield CpuLayers(compiled, 0 if compiled else stack.enter_context(packed(model, rows=rows)))


_MOST = 1 << 30  # bytes of weights: in larger models their layout is a small part of the work
_PROBE = 8  # rows
_TOLERANCE = 0.02  # of the probe's largest value: five roundings to bfloat16


@contextmanager
def packed(model: nn.Module, *, rows: int) -> Iterator[int]:
    """Packs the bfloat16 linear layers of a model on a CPU while the `with` lasts.

    Packed layers have no gradients. Their weights are held twice, so models with more than a
    gigabyte of them stay as they are.

    Args:
        model: Any; layers of other kinds, number types and devices stay as they are.
        rows: Tokens at once for which the layout is made; any number works.

    Yields:
        How many layers are packed.
    """
    with ExitStack() as stack:
        yield sum(_pack(stack, owner, layer, rows) for owner, layer in _layers(model))


def _layers(model: nn.Module) -> list[tuple[nn.Module, nn.Linear]]:
    """Each layer that may be packed, with the module that holds it."""
    import torch
    from torch import nn

    onednn: Any = torch.backends.mkldnn
    if not (onednn.is_available() and onednn.enabled):
        return []
    layers = [
        (owner, layer)
        for owner in model.modules()
        for layer in owner.children()
        if type(layer) is nn.Linear
        and layer.weight.device.type == "cpu"
        and layer.weight.dtype == torch.bfloat16
    ]
    return layers if sum(layer.weight.nbytes for _, layer in layers) <= _MOST else []


def _pack(stack: ExitStack, owner: nn.Module, layer: nn.Linear, rows: int) -> bool:
    """Packs a layer, with the activation after it if that is possible; whether it was."""
    import torch
    from torch import nn

    operators: Any = torch.ops.mkldnn
    try:
        weight = operators._reorder_linear_weight(layer.weight.detach(), rows)
        product = operators._linear_pointwise.default
    except (RuntimeError, AttributeError):  # no such operator in this build
        return False

    def forward(states: Tensor, then: str = "none") -> Tensor:
        result: Tensor = product(states, weight, layer.bias, then, [], "none")
        return result

    if _ends_in_gelu(owner, layer):
        with_gelu = {"forward": partial(forward, then="gelu")}
        nothing = {"intermediate_act_fn": nn.Identity()}
        if _changed(stack, {layer: with_gelu, owner: nothing}, owner, layer.in_features):
            return True
    return _changed(stack, {layer: {"forward": forward}}, layer, layer.in_features)


def _ends_in_gelu(owner: nn.Module, layer: nn.Linear) -> bool:
    """Whether a module looks like the first half of the feed-forward part of BERT and its like."""
    from torch import nn
    from transformers.activations import GELUActivation

    function = getattr(owner, "intermediate_act_fn", None)
    alone = all(part in (layer, function) for part in owner.children())
    exact = isinstance(function, GELUActivation) or (
        isinstance(function, nn.GELU) and function.approximate == "none"
    )
    return exact and alone


def _changed(
    stack: ExitStack,
    changes: Mapping[nn.Module, Mapping[str, object]],
    shown: nn.Module,
    width: int,
) -> bool:
    """Sets attributes until the stack is closed, if `shown` then computes what it did before."""
    import torch

    generator = torch.Generator().manual_seed(0)
    probe = torch.randn(_PROBE, width, generator=generator, dtype=torch.float32).to(torch.bfloat16)
    with torch.inference_mode(), ExitStack() as trial:
        before = shown(probe).float()
        for owner, values in changes.items():
            for name, value in values.items():
                trial.enter_context(override_attribute(owner, name, value))
        try:
            error = (shown(probe).float() - before).abs().max()
        except RuntimeError:
            return False
        if error > _TOLERANCE * before.abs().max():
            return False
        stack.push(trial.pop_all())
    return True
