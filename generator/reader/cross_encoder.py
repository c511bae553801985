"""A cross-encoder over question and stretch, with three heads.

Start and end of the words that answer, with `[CLS]` for "none" (Devlin et al. 2019, arXiv
1810.04805, section 4.3); whether the stretch answers at all, from `[CLS]` (Zhang et al. 2021, arXiv
2001.09694); and of each sentence whether it answers, from the mean over its tokens.

The encoder is the packaged one. Its changes (`indexing/models/weight_changes.py`) and the heads
ship beside this file; `training/reader` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from generator.reader.stretch import Tokens
from indexing.models.files import encoder_weights
from indexing.models.gguf import silenced
from indexing.models.weight_changes import ENCODER, add_changes, changes

if TYPE_CHECKING:
    from torch import Tensor

READER_WEIGHTS = Path(__file__).with_name("reader.safetensors")

_IMPOSSIBLE = -1e4  # logit of a token at which no answer may begin or end


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs of the cross-encoder, padded on the right.

    Attributes:
        ids: (n, t) token ids.
        mask: (n, t) 1 where there is a token.
        types: (n, t) 1 for the stretch, 0 for the question.
        choice: (n, t) whether an answer may begin or end here; `[CLS]` stands for none.
        members: (n, s, t) share of each token in each sentence's mean.
    """

    ids: Tensor
    mask: Tensor
    types: Tensor
    choice: Tensor
    members: Tensor

    @classmethod
    def of(cls, stretches: Sequence[Tokens]) -> Batch:
        """Padded to the longest."""
        size, width = len(stretches), max(len(one.ids) for one in stretches)
        ids = torch.zeros(size, width, dtype=torch.long)
        members = torch.zeros(size, max(len(one.places) for one in stretches), width)
        for row, one in enumerate(stretches):
            ids[row, : len(one.ids)] = torch.tensor(one.ids)
            for number, (start, end) in enumerate(one.places):
                members[row, number, start:end] = 1 / max(1, end - start)
        lengths = torch.tensor([[len(one.ids)] for one in stretches])
        firsts = torch.tensor([[one.first] for one in stretches])
        at = torch.arange(width)
        types = (at >= firsts) & (at < lengths)
        choice = (types & (at < lengths - 1)) | (at == 0)
        return cls(ids, (at < lengths).long(), types.long(), choice, members)

    def to(self, device: torch.device) -> Batch:
        """The same on another device."""
        parts = (self.ids, self.mask, self.types, self.choice, self.members)
        return Batch(*(each.to(device) for each in parts))


@dataclass(frozen=True, slots=True)
class Logits:
    """What the heads say, in float32.

    Attributes:
        starts: (n, t) of the answer's first token; `[CLS]` for none.
        ends: (n, t) of its last token.
        answerable: (n,) that the stretch answers.
        relevant: (n, s) that each sentence answers.
    """

    starts: Tensor
    ends: Tensor
    answerable: Tensor
    relevant: Tensor


class CrossEncoder(nn.Module):
    """The packaged encoder with heads, which are random until weights are loaded.

    Args:
        dropout: Of the hidden states, in training.

    Raises:
        MissingDependency: The packaged encoder is not installed.
    """

    def __init__(self, *, dropout: float = 0.0) -> None:
        from transformers import AutoModel

        super().__init__()
        with silenced():
            self.encoder: Any = AutoModel.from_pretrained(
                encoder_weights().folder,
                local_files_only=True,
                dtype=torch.float32,
                attn_implementation="eager",
                hidden_dropout_prob=dropout,
                attention_probs_dropout_prob=0.0,
                add_pooling_layer=False,
            )
        self.encoder.embeddings.requires_grad_(False)
        size = self.encoder.config.hidden_size
        self.span = nn.Linear(size, 2)
        self.answerable = nn.Linear(size, 1)
        self.relevant = nn.Linear(size, 1)
        for head in (self.span, self.answerable, self.relevant):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, batch: Batch) -> Logits:
        """Logits of a batch; the heads compute in float32, under autocast too."""
        states = self.encoder(
            input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.types
        ).last_hidden_state.float()
        with torch.autocast(states.device.type, enabled=False):
            spans = self.span(states).masked_fill(~batch.choice[..., None], _IMPOSSIBLE)
            relevant = self.relevant(batch.members @ states)[..., 0]
            answerable = self.answerable(states[:, 0])[:, 0]
        return Logits(spans[..., 0], spans[..., 1], answerable, relevant)

    def tuned(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: each for name, each in self.named_parameters() if each.requires_grad}


def load_cross_encoder(path: Path = READER_WEIGHTS) -> CrossEncoder:
    """The packaged encoder with a file's changes and heads, in float32.

    Raises:
        MissingDependency: The packaged encoder is not installed.
    """
    from safetensors.torch import load_file

    model = CrossEncoder()
    tensors = load_file(path)
    add_changes(model.encoder, tensors)
    for name, each in model.tuned().items():
        if not name.startswith(ENCODER):
            each.data = tensors[name]
    return model.eval()


def save_changes(tuned: Mapping[str, Tensor], path: Path) -> None:
    """Write what tuned parameters add to the packaged encoder, and the heads."""
    from safetensors.torch import save_file

    save_file(changes(tuned, CrossEncoder().tuned()), path)
