"""`minilm-cope`: the packaged encoder with contextual instead of absolute positions, of our own.

The architecture is `indexing/nn/contextual_bert.py`; every weight of the packaged encoder has its
place there but the table of positions. It was distilled from the packaged encoder as `minilm-rope`
was (`variant.py` says how it is kept), on texts of at most 256 tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.models.minilm.variant import WINDOW, Variant

if TYPE_CHECKING:
    from torch import Tensor

CONFIGURATION = {
    "architectures": ["ContextualBert"],
    "model_type": "contextual-bert",
    "dtype": "float32",
    "vocab_size": 30_522,
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 32_768,
    "contextual_positions": 64,
}
"""What `indexing.nn.contextual_bert` is told; no table ends, so the most tokens are any number."""

_TABLE = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_NAMES = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.out",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "intermediate.dense",
    "output.dense": "output.dense",
    "output.LayerNorm": "output.LayerNorm",
}


def renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """BERT's weights, float32, under the contextual architecture's names.

    The mean of the first 256 rows of the table of positions is added to the token types, as in
    `rotary_minilm.renamed`. Gates and embeddings of positions are not among them.
    """
    tensors = {}
    for name, tensor in weights.items():
        if name.startswith("encoder.layer."):
            _, _, number, rest = name.split(".", 3)
            module, _, kind = rest.rpartition(".")
            tensors[f"layers.{number}.{_NAMES[module]}.{kind}"] = tensor.detach().float().clone()
        elif name.startswith("embeddings.") and name not in {_TABLE, "embeddings.position_ids"}:
            tensors[name] = tensor.detach().float().clone()
    tensors[_TYPES] += weights[_TABLE][:WINDOW].float().mean(dim=0)
    return tensors


def _configure(into: Path) -> None:
    (into / "config.json").write_text(json.dumps(CONFIGURATION, indent=1), "utf-8")


CONTEXTUAL = Variant(
    "minilm-cope", Path(__file__).with_name("contextual_minilm.safetensors"), renamed, _configure
)
