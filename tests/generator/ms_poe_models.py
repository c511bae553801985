"""Small random models of every architecture that Ms-PoE knows, with what each has of its own."""

from __future__ import annotations

from typing import Any

import torch
import transformers

_SIZE: dict[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.25,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
_MIXED = ["full_attention", "sliding_attention", "full_attention"]
_SLIDING = {"sliding_window": 8, "layer_types": _MIXED}


def _rope(**more: object) -> dict[str, object]:
    return {"rope_type": "default", "rope_theta": 300.0, **more}


_HALF = {"rope_parameters": _rope(partial_rotary_factor=0.5)}
_FULL = {"rope_parameters": _rope()}

FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gemma": ("gemma", "GemmaConfig", {"head_dim": 16, **_FULL}),
    "gemma2": (
        "gemma2",
        "Gemma2Config",
        {"head_dim": 16, "attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 9, **_SLIDING},
    ),
    "gemma3": (
        "gemma3_text",
        "Gemma3TextConfig",
        {
            "head_dim": 16,
            **_SLIDING,
            "rope_parameters": {
                "full_attention": _rope(),
                "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
            },
        },
    ),
    "granite": ("granite", "GraniteConfig", {"attention_multiplier": 0.4, **_FULL}),
    "llama": ("llama", "LlamaConfig", _FULL),
    "llama-mha": ("llama", "LlamaConfig", {"num_key_value_heads": 4, **_FULL}),
    "llama-one": ("llama", "LlamaConfig", {"num_key_value_heads": 1, **_FULL}),
    "llama3": (
        "llama",
        "LlamaConfig",
        {
            "rope_parameters": _rope(
                rope_type="llama3",
                factor=4.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=32,
            )
        },
    ),
    "yarn": (
        "llama",
        "LlamaConfig",
        {
            "rope_parameters": _rope(
                rope_type="yarn", factor=4.0, original_max_position_embeddings=64
            )
        },
    ),
    "ministral": ("ministral", "MinistralConfig", {"head_dim": 16, **_SLIDING, **_FULL}),
    "mistral": ("mistral", "MistralConfig", {"sliding_window": None, **_FULL}),
    "mistral-sliding": ("mistral", "MistralConfig", {"sliding_window": 9, **_FULL}),
    "mixtral": (
        "mixtral",
        "MixtralConfig",
        {"num_local_experts": 2, "sliding_window": None, **_FULL},
    ),
    "olmo2": ("olmo2", "Olmo2Config", _FULL),
    "phi": ("phi", "PhiConfig", _HALF),
    "phi3": ("phi3", "Phi3Config", _FULL),
    "phi3-half": ("phi3", "Phi3Config", _HALF),
    "qwen2": ("qwen2", "Qwen2Config", _FULL),
    "qwen2-mixed": ("qwen2", "Qwen2Config", {"use_sliding_window": True, **_SLIDING, **_FULL}),
    "qwen3": ("qwen3", "Qwen3Config", {"head_dim": 16, **_FULL}),
    "qwen3-moe": (
        "qwen3_moe",
        "Qwen3MoeConfig",
        {"head_dim": 16, "num_experts": 2, "num_experts_per_tok": 1, **_FULL},
    ),
    "smollm3": ("smollm3", "SmolLM3Config", {"no_rope_layers": [1, 0, 1], **_FULL}),
    "stablelm": ("stablelm", "StableLmConfig", _HALF),
    "starcoder2": ("starcoder2", "Starcoder2Config", {"sliding_window": None, **_FULL}),
}
"""Name: the line of `LAYOUTS` that it tests, its config's class, and its settings."""


def build(name: str, *, attention: str | None = None, **more: object) -> Any:
    """The model in float32, with biases and norms that are not all alike."""
    torch.manual_seed(sum(map(ord, name)))
    config = getattr(transformers, FAMILIES[name][1])(**{**_SIZE, **FAMILIES[name][2], **more})
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return model.eval()


def tokens(count: int, *, rows: int = 1, seed: int = 0) -> torch.Tensor:
    """Random words, (rows, count)."""
    random = torch.Generator().manual_seed(seed)
    return torch.randint(3, 99, (rows, count), generator=random)
