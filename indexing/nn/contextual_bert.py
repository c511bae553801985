"""BERT with contextual (CoPE) instead of absolute positions: an architecture of our own.

Everything but the attention layers is BERT's (Devlin et al., arXiv 1810.04805); these are
`indexing/nn/cope.py`, in its bidirectional form. `register` makes the auto classes of transformers
know it, so that a folder with such a model loads like any other, without code from the folder.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.bert.modeling_bert import BertIntermediate, BertOutput

from indexing.nn.cope import ContextualAttention

MODEL_TYPE = "contextual-bert"


class ContextualBertConfig(PretrainedConfig):  # type: ignore[misc]
    """Sizes of a model; those that BERT has too have BERT's names, and MiniLM's values.

    Attributes:
        contextual_positions: n_pos of each layer.
        max_position_embeddings: Most tokens that may be read at once; there is no table of them.
    """

    model_type = MODEL_TYPE

    vocab_size: int = 30_522
    hidden_size: int = 384
    num_hidden_layers: int = 6
    num_attention_heads: int = 12
    intermediate_size: int = 1536
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.0
    max_position_embeddings: int = 32_768
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    contextual_positions: int = 64
    chunk_size_feed_forward: int = 0


class ContextualBert(PreTrainedModel):  # type: ignore[misc]
    """The encoder: token ids in, states of each token out."""

    config_class = ContextualBertConfig

    def __init__(self, config: ContextualBertConfig) -> None:
        super().__init__(config)
        self.embeddings = _Embeddings(config)
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.num_hidden_layers))
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        """The embeddings of words."""
        return self.embeddings.word_embeddings

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        *,
        output_hidden_states: bool = False,
        return_dict: bool = True,
    ) -> Any:  # noqa: ANN401
        """States (B, T, h) of token rows (B, T); with those of every layer, if they are wanted."""
        states = self.embeddings(input_ids, token_type_ids)
        real = None if attention_mask is None else attention_mask.bool()
        every = [states]
        for layer in self.layers:
            states = layer(states, real)
            every.append(states)
        output = BaseModelOutput(states, tuple(every) if output_hidden_states else None)
        return output if return_dict else output.to_tuple()


class _Embeddings(nn.Module):
    """Words and token types."""

    def __init__(self, config: ContextualBertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, width, config.pad_token_id)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, config.layer_norm_eps)

    def forward(self, ids: Tensor, types: Tensor | None = None) -> Tensor:
        """(B, T) to (B, T, h)."""
        of_type = self.token_type_embeddings
        added = of_type.weight[0] if types is None else of_type(types)
        states: Tensor = self.LayerNorm(self.word_embeddings(ids) + added)
        return states


class _Layer(nn.Module):
    """Attention and a feed-forward block, each added to what went in, and a norm after each."""

    def __init__(self, config: ContextualBertConfig) -> None:
        super().__init__()
        width, heads = config.hidden_size, config.num_attention_heads
        self.attention = ContextualAttention(
            width, heads, config.contextual_positions, causal=False, own_keys=True
        )
        self.attention_norm = nn.LayerNorm(width, config.layer_norm_eps)
        self.intermediate, self.output = BertIntermediate(config), BertOutput(config)

    def forward(self, states: Tensor, real: Tensor | None = None) -> Tensor:
        """(B, T, h) to (B, T, h)."""
        states = self.attention_norm(states + self.attention(states, real))
        output: Tensor = self.output(self.intermediate(states), states)
        return output


def register() -> None:
    """Makes transformers know the architecture; again is no harm."""
    AutoConfig.register(MODEL_TYPE, ContextualBertConfig, exist_ok=True)
    AutoModel.register(ContextualBertConfig, ContextualBert, exist_ok=True)
