"""How much of the documents a language model reads: whole documents or passages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.answer import EvidenceUnit
from indexing.errors import InvalidRequest
from indexing.models.server.server_name import is_local_server, is_remote

if TYPE_CHECKING:
    import torch

    from generator.lm.any_model import AnyModel

LONG_WINDOW = 32_000
"""Tokens of a window in which several whole documents fit."""

PASSAGE_TOKENS = 3000
"""Most tokens of a prompt with passages, unless somebody says otherwise."""

CPU_TOKENS = 800
"""The same where a CPU reads it: some ten seconds for a model of 1.5 billion weights."""

_CACHE_SHARE = 0.5  # of the memory that is free; the rest is for the pass itself


@dataclass(frozen=True, slots=True)
class EvidenceBudget:
    """What one model is shown, and why."""

    documents: bool  # whether whole documents are shown
    tokens: int  # most tokens of a prompt
    reason: str  # for a person to read

    def __str__(self) -> str:
        """In one line."""
        unit = "whole documents" if self.documents else "passages"
        return f"{unit}, at most {self.tokens:,} tokens of a prompt ({self.reason})"


def choose_budget(
    unit: EvidenceUnit, model: AnyModel, *, answer: int, most: int | None = None
) -> EvidenceBudget:
    """What a model is shown, whose answer may take so many tokens, and its prompt at most `most`.

    None for that is `passage_tokens` of passages, and of whole documents as many as window and
    memory hold.

    Raises:
        InvalidRequest: Whole documents were asked for, and nobody knows how many tokens fit.
    """
    window = model.window
    if unit == "passages":
        return EvidenceBudget(False, most or passage_tokens(model), "as asked")
    if unit == "auto" and (reason := _against_documents(model, window)):
        return EvidenceBudget(False, most or passage_tokens(model), reason)
    if window is None and most is None:
        raise InvalidRequest(
            f"the server does not say how much {model.name} reads; say it yourself with "
            "--prompt-tokens, or use --evidence passages"
        )
    room = None if window is None else window - min(answer, window // 2)
    limits = [each for each in (most, room, _memory_room(model)) if each is not None]
    stated = "as the budget says" if window is None else f"its window has {window:,}"
    return EvidenceBudget(True, min(limits), "as asked" if unit == "documents" else stated)


def passage_tokens(model: AnyModel) -> int:
    """Most tokens of a prompt with passages for a model: few where a CPU reads them.

    A server on this machine is taken to have no more than that, unless it says that its model reads
    whole documents.
    """
    if is_local_server(model.name):
        return CPU_TOKENS if (model.window or 0) < LONG_WINDOW else PASSAGE_TOKENS
    device = getattr(model, "device", None)
    on_cpu = device is None or device.type == "cpu"
    return PASSAGE_TOKENS if is_remote(model.name) or not on_cpu else CPU_TOKENS


def _against_documents(model: AnyModel, window: int | None) -> str:
    """Why whole documents do not suit a model; "" where they do."""
    from generator.lm.server.openai_server import RemoteModel

    if window is None:
        return "the server does not say how much its model reads"
    if window < LONG_WINDOW:
        return f"its window has {window:,} tokens, and whole documents need {LONG_WINDOW:,}"
    if isinstance(model, RemoteModel):
        return ""  # it carries what it says
    if getattr(getattr(model, "device", None), "type", "cpu") == "cpu":
        return "on a CPU so long a prompt takes minutes; --evidence documents takes them"
    room = _memory_room(model)
    if room is not None and room < LONG_WINDOW:
        return f"the memory of the device holds {room:,} tokens"
    return ""


def _memory_room(model: AnyModel) -> int | None:
    """How many tokens of keys and values fit into memory; None where that is not known."""
    from generator.lm.causal_lm import CausalModel

    if not isinstance(model, CausalModel):
        return None
    free, each = free_memory(model.device), bytes_per_token(model.model)
    return None if free is None or each is None else int(_CACHE_SHARE * free) // each


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
