"""Tests a method on an architecture before it is used there for the first time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from generator.ms_poe.architectures import RotaryModel
from indexing.errors import UnsupportedModel
from indexing.nn.hooks import Inputs, pre_forward_hook

if TYPE_CHECKING:
    from torch import Tensor

_TOKENS = 12
_RATIO = 1.5
_proven: set[tuple[str, type, str]] = set()


def prove(
    rotary: RotaryModel,
    rescale: Callable[[float], AbstractContextManager[None]],
    *,
    method: str = "Ms-PoE",
) -> None:
    """Two short passes beside two of the plain model.

    A ratio of 1 must give identical scores, and one ratio for all heads must give what the
    model itself gives for positions divided by it: `rescale` divides those of all its rotary layers
    by a ratio, inside a `with`.

    Raises:
        UnsupportedModel: One of the two does not hold.
    """
    key = (method, type(rotary.model), rotary.model.config._attn_implementation)
    if key in _proven:
        return
    plain, divided = _scores(rotary), _divided(rotary)
    with rescale(1.0):
        same = _scores(rotary)
    with rescale(_RATIO):
        turned = _scores(rotary)
    if not same.equal(plain):
        raise _failed(rotary, method, "a ratio of 1 changed its scores")
    gap, effect = _distance(turned, divided), _distance(plain, divided)
    if not gap <= max(_limit(rotary) * effect, 1e-5):
        raise _failed(
            rotary, method, f"a ratio is not a division of positions ({gap:.2g} of {effect:.2g})"
        )
    _proven.add(key)


def _scores(rotary: RotaryModel) -> Tensor:
    """Scores of every word at every place of the probe, float32 (n, V)."""
    import torch

    model = rotary.model
    words = model.config.get_text_config().vocab_size
    ids = torch.arange(_TOKENS, device=model.device).mul(7).add(words // 2).remainder(words)
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            mask = torch.ones_like(ids)[None]
            out = model(input_ids=ids[None], attention_mask=mask, use_cache=False)
    finally:
        model.train(training)
    scores: Tensor = out.logits[0].float()
    return scores


def _divided(rotary: RotaryModel) -> Tensor:
    """The same in the plain model, with the positions of its rotary layers divided by the ratio."""
    import torch

    module: Any = rotary.rotary.module
    named = {"layer_type": "full_attention"} if rotary.rotary.by_layer else {}

    def replace(_: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs:
        own: Tensor = kwargs["position_embeddings"][0]
        at = torch.arange(_TOKENS, device=own.device)[None] / _RATIO
        return args, {**kwargs, "position_embeddings": module(own, at, **named)}

    with ExitStack() as stack:
        for layer in rotary.layers:
            stack.enter_context(pre_forward_hook(layer.attention, replace))
        return _scores(rotary)


def _limit(rotary: RotaryModel) -> float:
    """How much of the effect may be rounding; a wrong rotation misses by all of it.

    In bfloat16 thirty layers of rounding are 0.31 of it on processors that sum in another order.
    """
    return 0.25 if rotary.model.dtype.itemsize > 2 else 0.6


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().mean())


def _failed(rotary: RotaryModel, method: str, reason: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"{method} does not work on {rotary.architecture}: {reason}; switch the method off"
    )
