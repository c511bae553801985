"""The verifier in training: the packaged encoder over sentence and excerpt, with two heads.

Whether the excerpt supports the sentence, from `[CLS]`; and of each of the sentence's tokens
whether it is wrong (as in RAGTruth's detectors: Niu et al. 2024, arXiv 2401.00396), which teaches
where to look and is left out of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus
from verifier_data import Claim

from indexing.models.files import encoder_weights
from indexing.models.weight_changes import add_changes, changes

LONGEST = 224  # tokens of sentence and excerpt

_WRONG, _ORDER = 0.5, 0.5  # weights of the losses beside that of support
_RARE = 3.0  # weight of a wrong token


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences beside excerpts, padded.

    Attributes:
        inputs: (pairs, t) what the encoder takes.
        owner: (pairs,) number of the claim.
        wrong: (pairs, t) 1 where a token of the sentence was changed, 0 where not, -1 elsewhere.
    """

    inputs: dict[str, Tensor]
    owner: Tensor
    wrong: Tensor

    @classmethod
    def of(cls, claims: Sequence[Claim], tokenizer: Any) -> Batch:  # noqa: ANN401
        """Padded to the longest."""
        pairs = [(i, one, text) for i, one in enumerate(claims) for text in one.bag]
        encoded = tokenizer(
            [one.text for _, one, _ in pairs],
            [text for *_, text in pairs],
            truncation="longest_first",
            max_length=LONGEST,
            padding=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = encoded.pop("offset_mapping").tolist()
        wrong = torch.full(encoded["input_ids"].shape, -1.0)
        for row, (_, one, _) in enumerate(pairs):
            if one.wrong is None:
                continue
            for at, part in enumerate(encoded.sequence_ids(row)):
                if part == 0:
                    a, b = offsets[row][at]
                    wrong[row, at] = float(any(a < end and start < b for start, end in one.wrong))
        return cls(dict(encoded), torch.tensor([i for i, *_ in pairs]), wrong)


class VerifierModel(nn.Module):
    """The packaged encoder with heads."""

    def __init__(self, dropout: float = 0.1) -> None:
        from transformers import AutoModel

        super().__init__()
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
        self.supported = nn.Linear(size, 1)
        self.wrong = nn.Linear(size, 1)
        nn.init.zeros_(self.wrong.bias)
        nn.init.normal_(self.wrong.weight, std=0.02)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(pairs,) logits of support and (pairs, t) of wrong tokens, float32."""
        with torch.autocast("cpu", torch.bfloat16):
            states = self.encoder(**batch.inputs).last_hidden_state
        states = states.float()
        return self.supported(states[:, 0])[:, 0], self.wrong(states)[..., 0]

    def tuned(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: each for name, each in self.named_parameters() if each.requires_grad}


def start_from(model: VerifierModel, reader: Path) -> None:
    """Take over a reader's encoder, and its logit of answerability as the logit of support."""
    tensors = load_file(reader)
    add_changes(model.encoder, tensors)
    with torch.no_grad():
        model.supported.weight.copy_(tensors["answerable.weight"])
        model.supported.bias.copy_(tensors["answerable.bias"])


def loss(model: VerifierModel, claims: Sequence[Claim], batch: Batch) -> Tensor:
    """Support of each claim by the best of its bag, wrong tokens, and true before false."""
    supported, wrong = model(batch)
    best = torch.full((len(claims),), -1e4).scatter_reduce(0, batch.owner, supported, "amax")
    true = torch.tensor([float(one.true) for one in claims])
    weight = torch.tensor([one.weight for one in claims])
    found = (binary_cross_entropy_with_logits(best, true, reduction="none") * weight).mean()
    known = batch.wrong >= 0
    labels = batch.wrong[known]
    tokens = binary_cross_entropy_with_logits(wrong[known], labels, weight=1 + (_RARE - 1) * labels)
    pairs = [
        (i - 1, i) for i, one in enumerate(claims) if i and not one.true and claims[i - 1].true
    ]
    if pairs:
        right, other = torch.tensor(pairs).T
        found = found + _ORDER * softplus(best[other] - best[right]).mean()
    return found + _WRONG * tokens


def export(tuned: Mapping[str, Tensor], path: Path) -> None:
    """Write the file, without the head for wrong tokens."""
    kept = {name: each for name, each in tuned.items() if not name.startswith("wrong.")}
    save_file(changes(kept, VerifierModel().tuned()), path)
