"""`minilm-rope`: the packaged encoder with rotary instead of absolute positions, of our own.

MiniLM is a BERT: layer norms after each block, biases everywhere, exact GELU. The one architecture
of transformers that is this with rotary positions (RoFormer: Su et al., arXiv 2104.09864) and no
table of positions is Jina Embeddings v3 (Sturua et al., arXiv 2409.10173); every other weight of
the packaged encoder has its place there. It was distilled from the packaged encoder on texts of at
most 256 tokens (`training/rope`; docs/notebook/context-extension.md has the figures).
`variant.py` says how it is kept; queries and keys, in other coordinates than the packaged ones, are
kept whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indexing.models.loading import loading
from indexing.models.minilm.variant import WINDOW, Variant

LAYERS, HEADS, BASE = 6, 12, 10_000.0

_NAMES = {
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.o_proj",
    "attention.output.LayerNorm": "post_attention_layernorm",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
    "output.LayerNorm": "post_mlp_layernorm",
    **{name: name for name in ("pooler.dense.weight", "pooler.dense.bias")},
}


def configuration() -> Any:  # noqa: ANN401
    """The configuration of a rotary MiniLM, without dropout."""
    with loading():
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


def _configure(into: Path) -> None:
    configuration().save_pretrained(into)


ROTARY = Variant(
    "minilm-rope", Path(__file__).with_name("rotary_minilm.safetensors"), _NAMES, _configure
)
