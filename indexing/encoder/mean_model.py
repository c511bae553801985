"""A BERT model with mean pooling, loaded by transformers alone: the packaged encoder.

sentence-transformers loads the same, and computes the same to the last bit; but it is imported with
its trainers, scikit-learn and SciPy, which takes 1.5 s and 80 MB that encoding has no use for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from indexing.models.files import Weights
from indexing.models.loading import loading

_MODULES = ["Transformer", "Pooling", "Normalize"]
_MEAN = "pooling_mode_mean_tokens"


class TokenStates(nn.Module):
    """Token ids to the transformer's last hidden states; `auto_model` is the transformer."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        with loading():
            from transformers import AutoModel

            self.auto_model: Any = AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
            )

    def get_embedding_dimension(self) -> int:
        """Of a token state."""
        return int(self.auto_model.config.hidden_size)

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adds `token_embeddings` (n, t, h)."""
        states = self.auto_model(**features, return_dict=True).last_hidden_state
        return {**features, "token_embeddings": states}


class MeanPooling(nn.Module):
    """Token states to their mean, summed in float32; without padding."""

    pooling_mode = "mean"

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adds `sentence_embedding` (n, h)."""
        states = features["token_embeddings"]
        mask = features["attention_mask"][..., None].to(states.dtype)
        total = (states * mask).sum(dim=1, dtype=torch.float32)
        count = mask.sum(dim=1, dtype=torch.float32).clamp(min=1e-9)
        return {**features, "sentence_embedding": (total / count).to(states.dtype)}


class MeanModel(nn.Sequential):
    """The part of a SentenceTransformer that `Encoder` uses.

    Attributes:
        tokenizer: Of transformers.
        max_seq_length: Tokens of one pass, special ones included.
        prompts: By what they are for; none where the model has none.
    """

    def __init__(self, folder: Path) -> None:
        with loading():
            from transformers import AutoTokenizer

        super().__init__(TokenStates(folder), MeanPooling())
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.max_seq_length = int(_read(folder / "sentence_bert_config.json")["max_seq_length"])
        settings = folder / "config_sentence_transformers.json"
        self.prompts: dict[str, str] = (
            _read(settings).get("prompts", {}) if settings.exists() else {}
        )

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """Of its weights."""
        return next(self.parameters()).dtype

    def get_embedding_dimension(self) -> int:
        """Of a vector."""
        states = self[0]
        assert isinstance(states, TokenStates)
        return states.get_embedding_dimension()


def is_mean_model(weights: Weights) -> bool:
    """Whether packaged weights are such a model; others are the library's to judge."""
    if weights.source != "packaged":
        return False
    folder = weights.folder
    kinds = [each["type"].rpartition(".")[2] for each in _read(folder / "modules.json")]
    if kinds != _MODULES or _read(folder / "config.json")["model_type"] != "bert":
        return False
    pooling = _read(folder / "1_Pooling" / "config.json")
    return [name for name, value in pooling.items() if value is True] == [_MEAN]


def _read(path: Path) -> Any:  # noqa: ANN401
    return json.loads(path.read_text("utf-8"))
