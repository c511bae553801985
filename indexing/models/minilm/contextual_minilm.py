"""`minilm-cope`: the packaged encoder with contextual instead of absolute positions, of our own.

The architecture is `indexing/nn/contextual_bert.py`; every weight of the packaged encoder has its
place there but the table of positions. It was distilled from the packaged encoder as `minilm-rope`
was (`variant.py` says how it is kept), on texts of at most 256 tokens.
"""

from __future__ import annotations

import json
from pathlib import Path

from indexing.models.minilm.variant import Variant

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


def _configure(into: Path) -> None:
    (into / "config.json").write_text(json.dumps(CONFIGURATION, indent=1), "utf-8")


CONTEXTUAL = Variant(
    "minilm-cope", Path(__file__).with_name("contextual_minilm.safetensors"), _NAMES, _configure
)
