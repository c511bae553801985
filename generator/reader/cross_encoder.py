"""A cross-encoder over question and stretch, with three heads.

Start and end of the words that answer, with `[CLS]` for "none" (Devlin et al. 2019, arXiv
1810.04805, section 4.3); whether the stretch answers at all, from `[CLS]` (Zhang et al. 2021, arXiv
2001.09694); and of each sentence whether it answers, from the mean over its tokens.

The encoder is a packaged one. Its changes (`indexing/models/weight_changes.py`) and the heads
ship beside this file (`inputs.PACKAGED_READERS`); `training/reader` makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from generator.reader.inputs import READER_WEIGHTS, Inputs, Outputs
from generator.reader.stretch import Stretch, Tokens
from indexing.models.files import DEFAULT_ENCODER, encoder_weights
from indexing.models.graphs.graph_export import Export
from indexing.models.loading import loading
from indexing.models.weight_changes import ENCODER, add_changes, merge_lora

if TYPE_CHECKING:
    from torch import Tensor

_IMPOSSIBLE = -1e4  # logit of a token at which no answer may begin or end


@dataclass(frozen=True, slots=True)
class Batch:
    """`Inputs` as tensors."""

    ids: Tensor
    mask: Tensor
    types: Tensor
    choice: Tensor
    members: Tensor

    @classmethod
    def of(cls, stretches: Sequence[Tokens]) -> Batch:
        """Padded to the longest."""
        return cls(*map(torch.from_numpy, Inputs.of(stretches).arrays))

    def to(self, device: torch.device) -> Batch:
        """The same on another device."""
        parts = (self.ids, self.mask, self.types, self.choice, self.members)
        return Batch(*(each.to(device) for each in parts))


@dataclass(frozen=True, slots=True)
class Logits:
    """`Outputs` as tensors, in float32."""

    starts: Tensor
    ends: Tensor
    answerable: Tensor
    relevant: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """In the order above."""
        return self.starts, self.ends, self.answerable, self.relevant

    @property
    def arrays(self) -> Outputs:
        """The same as arrays."""
        return Outputs(*(each.cpu().numpy() for each in self.tensors))


class CrossEncoder(nn.Module):
    """A packaged encoder with heads, which are random until weights are loaded.

    It has the layers of BERT, or of MPNet, whose attention is always "eager", and which has no
    token types: those are learnt, and added to the embeddings. Dropout is of hidden states.

    Raises:
        MissingDependency: The encoder is not installed.
    """

    def __init__(
        self, encoder: str = DEFAULT_ENCODER, *, dropout: float = 0.0, attention: str = "eager"
    ) -> None:
        super().__init__()
        with loading():
            from transformers import AutoConfig, AutoModel

            folder = encoder_weights(encoder).folder
            config = AutoConfig.from_pretrained(
                folder,
                local_files_only=True,
                hidden_dropout_prob=dropout,
                attention_probs_dropout_prob=0.0,
            )
            self.encoder: Any = AutoModel.from_pretrained(
                folder,
                config=config,
                local_files_only=True,
                dtype=torch.float32,
                attn_implementation="eager" if config.model_type == "mpnet" else attention,
                add_pooling_layer=False,
            )
        self.encoder.embeddings.requires_grad_(False)
        size = self.encoder.config.hidden_size
        self.types = None if has_types(self.encoder) else nn.Embedding(2, size)
        self.span = nn.Linear(size, 2, dtype=torch.float32)
        self.answerable = nn.Linear(size, 1, dtype=torch.float32)
        self.relevant = nn.Linear(size, 1, dtype=torch.float32)
        for head in (self.span, self.answerable, self.relevant):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        if self.types is not None:
            nn.init.zeros_(self.types.weight)

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """(n, t, d) hidden states of the last layer, in the encoder's dtype."""
        if self.types is None:
            encoded = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=types)
        else:
            embedded = self.encoder.embeddings(input_ids=ids)
            embedded = embedded + self.types(types).to(embedded)
            hidden = (1 - mask)[:, None, None, :].to(embedded) * _IMPOSSIBLE
            encoded = self.encoder.encoder(embedded, attention_mask=hidden, return_dict=True)
        states: Tensor = encoded.last_hidden_state
        return states

    def forward(self, batch: Batch) -> Logits:
        """Logits of a batch; the heads compute in float32, under autocast too."""
        states = self.states(batch.ids, batch.mask, batch.types).float()
        with torch.autocast(states.device.type, enabled=False):
            spans = self.span(states).masked_fill(~batch.choice[..., None], _IMPOSSIBLE)
            relevant = self.relevant(batch.members @ states)[..., 0]
            answerable = self.answerable(states[:, 0])[:, 0]
        return Logits(spans[..., 0], spans[..., 1], answerable, relevant)

    def tuned(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: each for name, each in self.named_parameters() if each.requires_grad}


def has_types(encoder: Any) -> bool:  # noqa: ANN401 - of transformers
    """Whether it tells a question from a stretch by token types of its own."""
    return hasattr(encoder.embeddings, "token_type_embeddings")


def load_cross_encoder(
    path: Path = READER_WEIGHTS, encoder: str = DEFAULT_ENCODER, *, attention: str = "sdpa"
) -> CrossEncoder:
    """A packaged encoder with a file's changes and heads, in float32.

    Raises:
        MissingDependency: The encoder is not installed.
    """
    from safetensors.torch import load_file

    model = CrossEncoder(encoder, attention=attention)
    tensors = load_file(path)
    add_changes(model.encoder, tensors)
    merge_lora(model, tensors)
    for name, each in model.tuned().items():
        if not name.startswith(ENCODER):
            each.data = tensors[name]
    return model.eval()


class _Unpadded(nn.Module):
    """A cross-encoder with arguments that can be traced."""

    def __init__(self, model: CrossEncoder) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids: Tensor, types: Tensor, choice: Tensor, members: Tensor
    ) -> tuple[Tensor, ...]:
        """As of a batch in which nothing is padded."""
        logits: Logits = self.model(Batch(ids, torch.ones_like(ids), types, choice, members))
        return logits.tensors


def reader_export(
    path: Path = READER_WEIGHTS, encoder: str = DEFAULT_ENCODER, *, eight_bits: bool = False
) -> Export:
    """What is exported to read stretches one by one; errors as in `load_cross_encoder`."""
    example = Stretch(range(2000, 2012), 3, ((4, 7), (8, 11)))
    probe = Stretch((101, 7592, 102, 2088, 1012, 102), 3, ((3, 5),))
    return Export(
        _Unpadded(load_cross_encoder(path, encoder, attention="eager")),
        axes={
            "ids": ("n", "t"),
            "types": ("n", "t"),
            "choice": ("n", "t"),
            "members": ("n", "s", "t"),
            "starts": ("n", "t"),
            "ends": ("n", "t"),
            "answerable": ("n",),
            "relevant": ("n", "s"),
        },
        example=_arguments(example),
        probe=_arguments(probe),
        eight_bits=eight_bits,
    )


def _arguments(stretch: Stretch) -> dict[str, Tensor]:
    batch = Batch.of([stretch])
    named = {"ids": batch.ids, "types": batch.types, "choice": batch.choice}
    return {**named, "members": batch.members}
