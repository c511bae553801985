"""A rotary encoder before any training: what can be done in closed form.

The architecture is that of `indexing.models.minilm.rotary_minilm`. Attention scores do not change
when queries of a head are multiplied by T and keys by T^-T. T is chosen so that queries and keys
have the same diagonal second moments (balanced coordinates: Moore 1981), and the coordinates with
the largest moments are given to the slowest rotary pairs. So rotation disturbs the scores least,
and the quick pairs are left free to learn positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from indexing.models.minilm.rotary_minilm import HEADS, LAYERS, configuration


def teacher(folder: Path, dtype: torch.dtype = torch.float32) -> Any:  # noqa: ANN401
    """The packaged encoder as it is."""
    from transformers import BertModel

    model = BertModel.from_pretrained(folder, local_files_only=True, dtype=dtype)
    return model.eval().requires_grad_(requires_grad=False)


def student(weights: Mapping[str, Tensor]) -> Any:  # noqa: ANN401
    """A rotary encoder with given weights."""
    from transformers import JinaEmbeddingsV3Model

    model = JinaEmbeddingsV3Model(configuration(), add_pooling_layer=True)
    model.load_state_dict(dict(weights), strict=True)
    return model.eval()


def balanced(queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Transforms T and T^-T of a head, the largest coordinates on the slowest rotary pairs.

    Args:
        queries: (n, d) of one head, over many tokens.
        keys: (n, d).

    Returns:
        Two float64 matrices (d, d), for queries and for keys; their product is the identity
        after one is transposed.
    """
    q, k = (_root(states.double()) for states in (queries, keys))
    left, values, _ = torch.linalg.svd(q.T @ k)
    size = values.sqrt()
    to_queries = size[:, None] * (left.T @ torch.linalg.inv(q))
    to_keys = (left.T @ q.T) / size[:, None]
    half = len(values) // 2
    order = torch.tensor([_rank(place, half) for place in range(len(values))])
    return to_queries[order], to_keys[order]


def _root(states: Tensor) -> Tensor:
    """L with L L^T the second moments of the states."""
    moments = states.T @ states / len(states)
    ridge = 1e-6 * moments.diagonal().mean() * torch.eye(len(moments), dtype=moments.dtype)
    return torch.linalg.cholesky(moments + ridge)


def _rank(place: int, half: int) -> int:
    """Which of the values, largest first, belongs to a dimension of the half-split layout."""
    return 2 * (half - 1 - place % half) + place // half


@torch.no_grad()
def rebalanced(
    weights: Mapping[str, Tensor],
    original: Any,  # noqa: ANN401
    rows: list[Tensor],
) -> dict[str, Tensor]:
    """The weights with each head's queries and keys in balanced coordinates.

    Args:
        weights: As `renamed` gives them.
        original: The teacher.
        rows: Token rows (B, T) to measure queries and keys on.
    """
    new = dict(weights)
    states = [original(ids, output_hidden_states=True).hidden_states[:LAYERS] for ids in rows]
    for layer in range(LAYERS):
        inputs = torch.cat([one[layer].flatten(0, 1).float() for one in states])
        names = [f"layers.{layer}.self_attn.{kind}_proj" for kind in "qk"]
        both = [inputs @ new[f"{name}.weight"].T + new[f"{name}.bias"] for name in names]
        heads = [part.unflatten(1, (HEADS, -1)).unbind(1) for part in both]
        turns = [balanced(q, k) for q, k in zip(*heads, strict=True)]
        for at, name in enumerate(names):
            turn = torch.block_diag(*(pair[at] for pair in turns))
            for kind in ("weight", "bias"):
                new[f"{name}.{kind}"] = (turn @ new[f"{name}.{kind}"].double()).float()
    return new
