"""The encoder of queries, as one module that can be exported."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from indexing.encoder.encoder import lightest_model, pipeline, pooling_name
from indexing.encoder.settings import EncoderSettings
from indexing.encoder.tokenizer import Tokens
from indexing.models.files import Weights
from indexing.models.graphs.graph_export import Export


class QueryModel(nn.Module):
    """A sentence-transformers model without its normalisation: token rows in, vectors out.

    Args:
        parts: Its modules.
        prompt: Tokens of special tokens and prompt that the pooling may leave out; 0 for none.
        types: Whether the model reads token types.
    """

    def __init__(self, parts: list[Any], *, prompt: int, types: bool) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self._prompt, self._types = prompt, types

    def forward(self, ids: Tensor) -> Tensor:
        """(n, t) token ids, nothing padded, to (n, d) pooled vectors, not normalised."""
        features: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if self._prompt:
            features["prompt_length"] = self._prompt
        if self._types:
            features["token_type_ids"] = torch.zeros_like(ids)
        for part in self.parts:
            features = part(features)
        vectors: Tensor = features["sentence_embedding"]
        return vectors


def query_export(weights: Weights) -> Export:
    """What is exported to encode queries with some weights.

    Raises:
        ModelError: They cannot be loaded.
        UnsupportedModel: They are of a model without pooling or character offsets.
    """
    settings = EncoderSettings(weights.name, dtype="float32", device="cpu")
    model, _ = lightest_model(weights, settings)
    eager = getattr(model[0].auto_model, "set_attn_implementation", None)
    if eager is not None:  # fewer operators, once traced
        eager("eager")
    tokens = Tokens.of(model)
    before, after = pipeline(model)
    prompt = tokens.before_query if tokens.for_queries else 0
    types = "token_type_ids" in model.tokenizer.model_input_names
    rows = [tokens.query(tokens.ids(text)[0], 512) for text in ("a b c", "d e f")]
    ids = torch.from_numpy(np.stack(rows))
    return Export(
        QueryModel([*before, *after], prompt=prompt, types=types),
        axes={"ids": ("n", "t"), "vectors": ("n",)},
        example={"ids": ids},
        probe={"ids": ids[:1, :-1]},
        facts={
            "head": tokens.head,
            "tail": tokens.tail,
            "for_documents": tokens.for_documents,
            "for_queries": tokens.for_queries,
            "pooling": pooling_name(model),
            "dimension": int(model.get_embedding_dimension() or 0),
        },
    )
