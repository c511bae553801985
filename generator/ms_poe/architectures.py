"""Where a causal model rotates its queries and keys: the architectures known to do it in one way.

A list of what was read and tested, by `config.model_type`. Anything else is refused: a model that
rotates neighbouring pairs of dimensions, or compresses its keys, has modules of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from indexing.errors import UnsupportedModel
from indexing.nn.architecture import FULL, SLIDING, RotaryEmbedding

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the last states before the rotation come from."""

    query: str  # the module of an attention layer whose output is the queries
    key: str  # the same for keys; the same module where they are fused (queries, keys, values)
    shape: Literal["flat", "tokens", "heads"]  # (B, n, H * D), (B, n, H, D), (B, H, n, D)


_PLAIN = Layout("q_proj", "k_proj", "flat")

LAYOUTS = {
    "gemma": _PLAIN,
    "gemma2": _PLAIN,
    "gemma3_text": Layout("q_norm", "k_norm", "heads"),
    "granite": _PLAIN,
    "llama": _PLAIN,
    "ministral": _PLAIN,
    "mistral": _PLAIN,
    "mixtral": _PLAIN,
    "olmo2": Layout("q_norm", "k_norm", "flat"),
    "phi": _PLAIN,
    "phi3": Layout("qkv_proj", "qkv_proj", "flat"),
    "qwen2": _PLAIN,
    "qwen3": Layout("q_norm", "k_norm", "tokens"),
    "qwen3_moe": Layout("q_norm", "k_norm", "tokens"),
    "smollm3": _PLAIN,
    "stablelm": _PLAIN,
    "starcoder2": _PLAIN,
}
"""By `config.model_type`. Tests go through this table."""

_INTERLEAVED = "it rotates neighbouring pairs of dimensions"
_COMPRESSED = "its keys are compressed (multi-head latent attention)"
REFUSED = {
    "cohere": _INTERLEAVED,
    "cohere2": _INTERLEAVED,
    "glm": _INTERLEAVED,
    "glm4": _INTERLEAVED,
    "gptj": _INTERLEAVED,
    "deepseek_v2": _COMPRESSED,
    "deepseek_v3": _COMPRESSED,
    "minicpm3": _COMPRESSED,
    "gpt2": "its positions are learned vectors",
    "opt": "its positions are learned vectors",
    "bloom": "its positions are distances added to the logits",
    "mpt": "its positions are distances added to the logits",
}
"""Why some well-known architectures are not in `LAYOUTS`."""

_NORMS_UNREAD = (
    "q_layernorm",
    "query_layernorm",
)  # between projection and rotation (Phi, StableLM)


@dataclass(frozen=True, slots=True, eq=False)
class RotaryLayer:
    """One attention layer that rotates its queries and keys."""

    index: int  # its number in the model, from 0
    attention: nn.Module
    query: nn.Module  # the module whose output is the queries
    key: nn.Module  # the module whose output is the keys
    window: int | None  # how many tokens back it sees, or None for all


@dataclass(frozen=True, slots=True, eq=False)
class RotaryModel:
    """What a method that works on rotations must know of a model."""

    architecture: str  # the class of the model, such as "LlamaForCausalLM"
    model: Any
    rotary: RotaryEmbedding  # where cosines and sines are made
    layers: tuple[RotaryLayer, ...]  # that rotate, without those of a window where others have none
    layout: Layout  # where queries and keys come from
    num_heads: int  # H, of queries; head h reads the keys of key/value head h // (H / K)
    num_kv_heads: int  # K, of keys and values
    head_dim: int  # D

    def inv_freq(self) -> Tensor:
        """The rotation frequencies in use now, float32 (d / 2,)."""
        return self.rotary.frequencies(FULL)[0].float()

    def split_heads(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Views of a layer's queries (B, n, K, H / K, D) and keys (B, n, K, 1, D)."""
        head_dim, num_kv_heads = self.head_dim, self.num_kv_heads
        heads_per_group = self.num_heads // num_kv_heads
        if self.layout.query == self.layout.key:
            first, second = self.num_heads * head_dim, (self.num_heads + num_kv_heads) * head_dim
            queries, keys = queries[..., :first], keys[..., first:second]
        if self.layout.shape == "flat":
            shape = queries.shape[:2]
            return (
                queries.view(*shape, num_kv_heads, heads_per_group, head_dim),
                keys.view(*shape, num_kv_heads, 1, head_dim),
            )
        if self.layout.shape == "heads":
            queries, keys = queries.transpose(1, 2), keys.transpose(1, 2)
        shape = queries.shape[:2]
        return queries.view(*shape, num_kv_heads, heads_per_group, head_dim), keys.unsqueeze(3)


def recognise(model: Any) -> RotaryModel:  # noqa: ANN401 - any transformers model
    """The rotary layers of a causal language model.

    Raises:
        UnsupportedModel: Its architecture is not among those known, or its settings forbid it.
    """
    config = model.config.get_text_config()
    layout = LAYOUTS.get(config.model_type)
    if layout is None:
        reason = REFUSED.get(config.model_type, "it is not among those that were tested")
        raise _refused(model, reason)
    if model.config._attn_implementation == "flex_attention":
        raise _refused(model, "flex attention hides its mask; load it with another attention")
    decoder = model.get_decoder()
    layers = _layers(model, decoder, layout)
    first = layers[0].attention
    return RotaryModel(
        architecture=type(model).__name__,
        model=model,
        rotary=_rotary(model, decoder),
        layers=layers,
        layout=layout,
        num_heads=config.num_attention_heads,
        num_kv_heads=config.num_key_value_heads or config.num_attention_heads,
        head_dim=int(first.head_dim),  # type: ignore[arg-type]  # a number set by its constructor
    )


def _layers(model: Any, decoder: Any, layout: Layout) -> tuple[RotaryLayer, ...]:  # noqa: ANN401
    config = decoder.config
    kinds = getattr(config, "layer_types", None) or [None] * len(decoder.layers)
    mixed = FULL in kinds and SLIDING in kinds
    rotary = []
    for index, (kind, layer) in enumerate(zip(kinds, decoder.layers, strict=False)):
        attention = layer.self_attn
        if (mixed and kind != FULL) or not getattr(attention, "use_rope", True):
            continue
        children = dict(attention.named_children())
        if layout.query not in children or any(name in children for name in _NORMS_UNREAD):
            raise _refused(model, "its attention has other parts than known models of its kind")
        window = None if kind == FULL else getattr(config, "sliding_window", None)
        query, key = children[layout.query], children[layout.key]
        rotary.append(RotaryLayer(index, attention, query, key, window))
    if not rotary:
        raise _refused(model, "no layer of it rotates queries and keys")
    return tuple(rotary)


def _rotary(model: Any, decoder: Any) -> RotaryEmbedding:  # noqa: ANN401
    module = getattr(decoder, "rotary_emb", None)
    kinds: Any = getattr(module, "rope_type", None)
    if module is None or kinds is None:
        raise _refused(model, "its rotations are made where no known model makes them")
    by_type = dict(kinds) if isinstance(kinds, dict) else {FULL: str(kinds)}
    if any("dynamic" in kind for kind in by_type.values()):
        reason = "its frequencies change with the length of the text (dynamic NTK)"
        raise _refused(model, reason)
    return RotaryEmbedding(module, by_type)


def _refused(model: Any, reason: str) -> UnsupportedModel:  # noqa: ANN401
    known = ", ".join(sorted(LAYOUTS))
    kind = model.config.get_text_config().model_type
    return UnsupportedModel(
        f"positions cannot be rescaled in {type(model).__name__} ({kind}): {reason}; "
        f"switch the method off, or use a model of these kinds: {known}"
    )
