"""MiniLM with rotary instead of absolute positions, as an architecture that transformers knows.

MiniLM is a BERT: layer norms after each block, biases everywhere, exact GELU. The one architecture
of transformers that is this with rotary positions (RoFormer, Su et al., arXiv 2104.09864) in
queries and keys, and no table of positions, is Jina Embeddings v3 (arXiv 2409.10173). Every weight
of the packaged encoder has its place there but for the table of positions.

What changes before any training:

- The mean of the first 256 rows of the table is added to the token type rows, which are added to
  every token. So embeddings keep the mean that the layers are used to.
- Attention scores do not change when queries of a head are multiplied by T and keys by T^-T. T is
  chosen so that queries and keys have the same diagonal second moments (balanced coordinates:
  Moore 1981), and the coordinates with the largest moments are given to the slowest rotary pairs.
  So rotation disturbs the scores least, and the quick pairs are left free to learn positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

WINDOW = 256
BASE = 10_000.0
HEADS = 12
LAYERS = 6

_TABLE = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_NAMES = {
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.o_proj",
    "attention.output.LayerNorm": "post_attention_layernorm",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
    "output.LayerNorm": "post_mlp_layernorm",
}


def teacher(folder: Path, dtype: torch.dtype = torch.float32) -> Any:  # noqa: ANN401
    """The packaged encoder as it is."""
    from transformers import BertModel

    model = BertModel.from_pretrained(folder, local_files_only=True, dtype=dtype)
    return model.eval().requires_grad_(requires_grad=False)


def configuration() -> Any:  # noqa: ANN401
    """The configuration of a rotary MiniLM, without dropout."""
    from transformers import JinaEmbeddingsV3Config

    return JinaEmbeddingsV3Config(
        architectures=["JinaEmbeddingsV3Model"],
        vocab_size=30_522,
        hidden_size=384,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=1536,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=WINDOW,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        rope_parameters={"rope_type": "default", "rope_theta": BASE},
    )


def student(weights: Mapping[str, Tensor]) -> Any:  # noqa: ANN401
    """A rotary encoder with given weights."""
    from transformers import JinaEmbeddingsV3Model

    model = JinaEmbeddingsV3Model(configuration(), add_pooling_layer=True)
    model.load_state_dict(dict(weights), strict=True)
    return model.eval()


def renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """BERT's weights under the rotary architecture's names, the table folded into the types."""
    found = {}
    for name, tensor in weights.items():
        new = name
        if name.startswith("encoder.layer."):
            _, _, number, rest = name.split(".", 3)
            module, _, kind = rest.rpartition(".")
            new = f"layers.{number}.{_NAMES[module]}.{kind}"
        if new not in {_TABLE, "embeddings.position_ids"}:
            found[new] = tensor.detach().float().clone()
    found[_TYPES] += weights[_TABLE][:WINDOW].float().mean(dim=0)
    return found


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
