"""The memory that a model's keys and values need, and the memory available for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def bytes_per_token(model: Any) -> int | None:  # noqa: ANN401 - any transformers model
    """Bytes of one token's keys and values in all layers; None where the model does not say.

    Layers that see only a window keep fewer tokens; they are counted as if they kept all.
    """
    config = model.config.get_text_config()
    layers = getattr(config, "num_hidden_layers", None)
    heads = getattr(config, "num_attention_heads", None)
    hidden = getattr(config, "hidden_size", None)
    if not (layers and heads and hidden):
        return None
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    head_dim = getattr(config, "head_dim", None) or hidden // heads
    return int(2 * layers * kv_heads * head_dim * model.dtype.itemsize)


def free_memory(device: torch.device) -> int | None:
    """Bytes that are free on a GPU; of another device, half of what the machine has.

    None where the system does not say.
    """
    import torch

    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return None
