"""Recognises the architecture of an embedding model from its modules and config, not its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from indexing.errors import UnsupportedModel

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor, nn
    from transformers import PreTrainedModel

Positions = Literal["absolute", "rotary", "other"]

FULL, SLIDING = "full_attention", "sliding_attention"

# Rotary modules of these kinds choose their frequencies by the longest sequence of a batch.
_BATCH_DEPENDENT = ("dynamic", "longrope")


@dataclass(frozen=True, slots=True, eq=False)
class PositionTable:
    """A learned table of positions (BERT, RoBERTa, MPNet, DistilBERT and their like)."""

    module: nn.Module  # the embeddings module that takes `position_ids`
    embedding: nn.Embedding  # the table itself, one row a position
    offset: int  # the row of position 0: padding_idx + 1 in RoBERTa-like models, otherwise 0


@dataclass(frozen=True, slots=True, eq=False)
class RotaryEmbedding:
    """A rotary module (ModernBERT, NomicBERT, Llama, Mistral, Qwen and their like)."""

    module: nn.Module  # what turns position ids into cos and sin
    # the kinds of rope by layer type; a single entry where all layers share one
    rope_types: dict[str, str]

    @property
    def by_layer(self) -> bool:
        """Whether local and global layers have frequencies of their own (ModernBERT)."""
        return SLIDING in self.rope_types

    def frequencies(self, layer_type: str) -> tuple[Tensor, float]:
        """The frequencies (d / 2,) of a layer type, and the gain on cos and sin."""
        prefix = f"{layer_type}_" if self.by_layer else ""
        inverse: Tensor = getattr(self.module, f"{prefix}inv_freq")
        return inverse, float(getattr(self.module, f"{prefix}attention_scaling"))


@dataclass(frozen=True, slots=True, eq=False)
class Architecture:
    """What the methods must know of a model."""

    class_name: str  # the class of the transformer, such as "BertModel"
    reader: nn.Module  # the first module of the pipeline, which tokenises and runs the transformer
    backbone: PreTrainedModel  # the transformer
    original: int  # L_o, the tokens that one pass was made for, special tokens included
    causal: bool  # whether a token sees only the tokens before it
    # for each attention layer, how far back it sees, or None for everything
    windows: tuple[int | None, ...]
    padding_id: int | None  # the token that has no position in RoBERTa-like models
    table: PositionTable | None  # where learned positions lie, or None
    rotary: RotaryEmbedding | None  # where rotary positions are made, or None

    @property
    def positions(self) -> Positions:
        """Which kind of positions the model has, as far as the methods can change them."""
        if self.table is not None:
            return "absolute"
        return "rotary" if self.rotary is not None else "other"


def recognise(model: SentenceTransformer) -> Architecture:
    """What a model is made of.

    Raises:
        UnsupportedModel: It is no PyTorch transformer, or states no context length.
    """
    reader = model[0]
    backbone = _backbone(reader)
    table, rotary = _table(backbone), _rotary(backbone)
    if table is not None and rotary is not None:
        table = rotary = None
    return Architecture(
        class_name=type(backbone).__name__,
        reader=reader,
        backbone=backbone,
        original=_original(model, backbone, table),
        causal=_causal(backbone),
        windows=_windows(backbone),
        padding_id=table.offset - 1 if table is not None and table.offset else None,
        table=table,
        rotary=rotary,
    )


def queries(arch: Architecture) -> list[tuple[nn.Module, int]]:
    """The modules whose output is the attention queries, each with its share.

    A share of 3 means that the queries are the first third of the output (ModernBERT); 1 means
    all of it. Where queries are normalised (Qwen3), it is the norm: a scale before it is lost.

    Raises:
        UnsupportedModel: They are not found in every layer.
    """
    matches: list[tuple[nn.Module, int]] = []
    for layer in _layers(arch.backbone):
        children = dict(layer.named_children())
        name = next((name for name in _QUERIES if name in children), None)
        if name is not None:
            matches.append((children[name], _QUERIES[name]))
    if not matches or arch.backbone.config.num_hidden_layers % len(matches):
        msg = f"{arch.class_name}: the attention queries are not where they are in known models"
        raise UnsupportedModel(msg)
    return matches


# Where queries come out of an attention layer, first match first, and their share of the output.
_QUERIES = {"q_norm": 1, "query": 1, "q_lin": 1, "q_proj": 1, "q": 1, "Wqkv": 3}


def _layers(backbone: nn.Module) -> list[nn.Module]:
    """Every attention layer: a module with a projection to queries among its children."""
    return [
        module
        for module in backbone.modules()
        if any(name in _QUERIES for name, _ in module.named_children())
    ]


def _backbone(reader: nn.Module) -> PreTrainedModel:
    from transformers import PreTrainedModel

    backbone = getattr(reader, "auto_model", None)
    if not isinstance(backbone, PreTrainedModel):
        msg = (
            f"{type(reader).__name__} holds no PyTorch transformer, and nothing extends it; "
            "load a Hugging Face encoder with the torch backend"
        )
        raise UnsupportedModel(msg)
    if getattr(reader, "can_flatten_inputs", False):
        msg = "batches without padding are not supported; load with attn_implementation='sdpa'"
        raise UnsupportedModel(msg)
    return backbone


def _table(backbone: nn.Module) -> PositionTable | None:
    from torch import nn

    owners = [
        module
        for module in backbone.modules()
        if isinstance(getattr(module, "position_embeddings", None), nn.Embedding)
    ]
    kind = getattr(backbone.config, "position_embedding_type", None) or "absolute"
    if len(owners) != 1 or kind != "absolute":
        return None
    padding = getattr(owners[0], "padding_idx", None)
    rows = owners[0].position_embeddings
    assert isinstance(rows, nn.Embedding)
    return PositionTable(owners[0], rows, padding + 1 if isinstance(padding, int) else 0)


def _rotary(backbone: nn.Module) -> RotaryEmbedding | None:
    matches = [
        module
        for module in backbone.modules()
        if any(name.endswith("inv_freq") for name, _ in module.named_buffers(recurse=False))
    ]
    if len(matches) != 1 or not hasattr(matches[0], "rope_type"):
        return None
    kinds: Any = matches[0].rope_type
    kinds = dict(kinds) if isinstance(kinds, dict) else {FULL: str(kinds)}
    if any(part in kind for kind in kinds.values() for part in _BATCH_DEPENDENT):
        return None
    return RotaryEmbedding(matches[0], kinds)


def _original(
    model: SentenceTransformer, backbone: PreTrainedModel, table: PositionTable | None
) -> int:
    if table is not None:
        return int(table.embedding.num_embeddings) - table.offset
    stated = getattr(backbone.config, "max_position_embeddings", None) or model.max_seq_length
    if not stated or stated > 10_000_000:
        msg = f"{type(backbone).__name__} states no context length; set the model's max_seq_length"
        raise UnsupportedModel(msg)
    return int(stated)


def _causal(backbone: PreTrainedModel) -> bool:
    layers = any(getattr(layer, "is_causal", False) for layer in _layers(backbone))
    return layers and getattr(backbone.config, "is_causal", True) is not False


def _windows(backbone: PreTrainedModel) -> tuple[int | None, ...]:
    default = getattr(backbone.config, "sliding_window", None)
    return tuple(getattr(layer, "sliding_window", default) for layer in _layers(backbone))
