"""Ms-PoE and LPES as the papers write them: one head at a time, full scores, positions divided.

Shares nothing with the code under test. It takes the place of the attention layers' forward.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

from generator.ms_poe.method import MsPoE


@contextmanager
def naive(model: Any, settings: MsPoE | None, *, prompt: int) -> Iterator[dict[int, list[float]]]:
    """Naive attention everywhere, for one row without padding; ratios decided by `prompt` tokens.

    Yields the ratio of each key/value group, by layer, as they are decided.
    """
    decoder = model.get_decoder()
    kinds = getattr(decoder.config, "layer_types", None) or ["full_attention"] * len(decoder.layers)
    mixed = len(set(kinds)) > 1
    decided: dict[int, list[float]] = {}
    for index, layer in enumerate(decoder.layers):
        wanted = settings is not None and not (mixed and kinds[index] == "sliding_attention")
        layer.self_attn.forward = partial(
            _forward, decoder, layer.self_attn, index, settings if wanted else None, prompt, decided
        )
    try:
        yield decided
    finally:
        for layer in decoder.layers:
            del layer.self_attn.forward


@contextmanager
def naive_layers(model: Any, scales: tuple[float, ...]) -> Iterator[None]:
    """Naive attention everywhere, the positions of each layer divided by its scale.

    Layers that see only a window, where the model has others too, keep theirs.
    """
    decoder = model.get_decoder()
    with ExitStack() as stack:
        for index, scale in enumerate(scales):
            one = MsPoE(
                r_min=scale, r_max=scale, first_layer=index, last_layer=index, order="uniform"
            )
            stack.enter_context(_one_layer(decoder, index, one))
        yield


@contextmanager
def _one_layer(decoder: Any, index: int, settings: MsPoE) -> Iterator[None]:
    kinds = getattr(decoder.config, "layer_types", None) or ["full_attention"] * len(decoder.layers)
    kept = len(set(kinds)) > 1 and kinds[index] == "sliding_attention"
    attention = decoder.layers[index].self_attn
    attention.forward = partial(
        _forward, decoder, attention, index, None if kept else settings, 0, {}
    )
    try:
        yield
    finally:
        del attention.forward


def _forward(
    decoder: Any,
    attention: Any,
    index: int,
    settings: MsPoE | None,
    prompt: int,
    decided: dict[int, list[float]],
    hidden_states: Tensor,
    **_: Any,
) -> tuple[Tensor, None]:
    config = decoder.config
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    q, k, v = _projected(attention, hidden_states[0], heads, groups)
    inverse, gain = _spectrum(decoder, index)
    n = hidden_states.shape[1]
    window = _window(config, attention, index)
    each = heads // groups

    def scores(head: int, ratio: float) -> Tensor:
        """Every query with every key, one head, causal."""
        at = torch.arange(n) / ratio
        if not getattr(attention, "use_rope", True):
            at = at * 0
        turned = _turned(q[:, head], at, inverse, gain).double()
        against = _turned(k[:, head // each], at, inverse, gain).double()
        found = turned @ against.T * attention.scaling
        cap = getattr(attention, "attn_logit_softcapping", None)
        if cap:
            found = torch.tanh(found / cap) * cap
        query, key = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
        hidden = (key > query) | ((key <= query - window) if window else False)
        found[hidden] = -math.inf
        return found

    changed = (
        settings is not None
        and index >= settings.first_layer
        and index <= (settings.last_layer if settings.last_layer is not None else math.inf)
        and getattr(attention, "use_rope", True)
    )
    ratio = [1.0] * groups
    if changed:
        assert settings is not None
        ratio = _ratios(settings, index, heads, groups, lambda head: scores(head, 1.0)[prompt - 1])
        decided[index] = ratio
    outputs = [
        scores(head, ratio[head // each]).softmax(-1).float() @ v[:, head // each]
        for head in range(heads)
    ]
    joined = torch.cat(outputs, dim=-1)[None]
    last = next(
        layer
        for name in ("o_proj", "dense")
        if (layer := getattr(attention, name, None)) is not None
    )
    return last(joined), None


def _ratios(settings: MsPoE, index: int, heads: int, groups: int, row: Any) -> list[float]:
    if settings.order == "uniform" or groups == 1:
        return [(settings.r_min + settings.r_max) / 2] * groups
    if settings.order == "calibrated":
        place = list(settings.places[index])
    else:
        share = []
        for head in range(heads):
            seen = row(head)
            seen = seen[seen > -math.inf].softmax(-1)
            share.append(int((seen > 3 * seen.mean()).sum()))  # of as many keys for all
        each = heads // groups
        place = [-sum(share[g * each : (g + 1) * each]) for g in range(groups)]
    found = [0.0] * groups
    for i, group in enumerate(sorted(range(groups), key=lambda g: (place[g], g))):
        found[group] = settings.r_min + (settings.r_max - settings.r_min) * i / (groups - 1)
    return found


def _projected(a: Any, x: Tensor, heads: int, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (n, H, D), keys and values (n, K, D), normalised where the model does so."""
    n = len(x)
    if hasattr(a, "qkv_proj"):
        q, k, v = a.qkv_proj(x).split([heads * a.head_dim, *[groups * a.head_dim] * 2], dim=-1)
    else:
        q, k, v = a.q_proj(x), a.k_proj(x), a.v_proj(x)
    whole = hasattr(a, "q_norm") and a.q_norm.weight.numel() == heads * a.head_dim
    if whole and heads > 1:
        q, k = a.q_norm(q), a.k_norm(k)
    q, k, v = q.view(n, heads, -1), k.view(n, groups, -1), v.view(n, groups, -1)
    if hasattr(a, "q_norm") and not whole:
        q, k = a.q_norm(q), a.k_norm(k)
    return q, k, v


def _spectrum(decoder: Any, index: int) -> tuple[Tensor, float]:
    rotary = decoder.rotary_emb
    kind = decoder.config.layer_types[index] + "_" if isinstance(rotary.rope_type, dict) else ""
    return getattr(rotary, kind + "inv_freq"), getattr(rotary, kind + "attention_scaling")


def _window(config: Any, attention: Any, index: int) -> int | None:
    kinds = getattr(config, "layer_types", None)
    if kinds and kinds[index] == "full_attention":
        return None
    return getattr(config, "sliding_window", None)


def _turned(vectors: Tensor, positions: Tensor, inverse: Tensor, gain: float) -> Tensor:
    """Pair (k, k + d/2) of each vector (n, D) turned by position * inverse[k]."""
    pairs, out = len(inverse), vectors.clone()
    angle = positions[:, None] * inverse
    first, second = vectors[:, :pairs], vectors[:, pairs : 2 * pairs]
    out[:, :pairs] = (first * angle.cos() - second * angle.sin()) * gain
    out[:, pairs : 2 * pairs] = (second * angle.cos() + first * angle.sin()) * gain
    return out
