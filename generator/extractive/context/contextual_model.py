"""The model of late chunking: the packaged encoder with the adapters merged in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from generator.evidence import Vectors
from generator.extractive.fitted import LORA_WEIGHTS
from indexing.models.files import encoder_weights
from indexing.models.graphs.cores import spread
from indexing.models.graphs.graph_export import Export
from indexing.models.loading import loading
from indexing.models.weight_changes import merge_lora

_TOKENS = 2_048  # of a batch, padding included; more no longer fit into the caches of a core


def load_contextual_model(
    adapters: Mapping[str, Tensor] | None = None, *, attention: str = "sdpa"
) -> tuple[Any, float]:
    """The model in float32, and the weight of a cosine.

    Args:
        adapters: As of `ContextualEncoder`; None for those that ship.
        attention: By transformers' name of it.

    Raises:
        MissingDependency: The packaged encoder is not installed.
    """
    adapters = load_file(LORA_WEIGHTS) if adapters is None else adapters
    with loading():
        from transformers import AutoModel

        model = AutoModel.from_pretrained(
            encoder_weights().folder,
            local_files_only=True,
            attn_implementation=attention,
            add_pooling_layer=False,
        ).eval()
    merge_lora(model, adapters)
    return model, float(adapters["scale"])


def states_of(model: Any, rows: Sequence[Sequence[int]]) -> list[Vectors]:  # noqa: ANN401
    """The hidden states of rows of token ids, (t, d) float32 each; those of like length at once."""
    states: list[Vectors] = [np.zeros((0, 0), np.float32)] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    batches: list[list[int]] = []
    while order:
        batches.append(order[-max(1, _TOKENS // len(rows[order[-1]])) :])
        del order[-len(batches[-1]) :]
    each = partial(_states, model)
    inputs = [[rows[i] for i in some] for some in batches]
    found = spread(each, inputs) if model.device.type == "cpu" else [*map(each, inputs)]
    for some, of_batch in zip(batches, found, strict=True):
        for i, one in zip(some, of_batch, strict=True):
            states[i] = one[: len(rows[i])]
    return states


def _states(model: Any, rows: Sequence[Sequence[int]]) -> Vectors:  # noqa: ANN401
    """The hidden states (n, t, d) of rows, filled up to the longest, which is the last."""
    ids = torch.zeros(len(rows), len(rows[-1]), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), 1
    with torch.inference_mode():
        found = model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device))
    states: Vectors = found.last_hidden_state.float().cpu().numpy()
    return states


class _States(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        """(n, t) token ids, nothing padded, to (n, t, d) hidden states."""
        states: Tensor = self.model(ids).last_hidden_state
        return states


def context_export() -> Export:
    """What is exported to read windows one by one; errors as in `load_contextual_model`."""
    model, scale = load_contextual_model(attention="eager")
    ids = torch.arange(2000, 2014).view(2, 7)
    return Export(
        _States(model),
        axes={"ids": ("n", "t"), "states": ("n", "t")},
        example={"ids": ids},
        probe={"ids": ids[:1, :5]},
        facts={"scale": scale},
    )
