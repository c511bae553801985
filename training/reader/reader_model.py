"""The reader: one encoder over question and stretch, with three heads.

Start and end of the words that answer, with `[CLS]` for "none" (Devlin et al. 2019, arXiv
1810.04805); whether the stretch answers at all, from `[CLS]` (Zhang et al. 2021, arXiv 2001.09694);
and of each sentence whether it answers, from the mean over its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from reader_data import Example
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from indexing.models.files import encoder_weights

_LOW = -1e4  # logit of a token that cannot be chosen
_WHOLE = 24  # tokens from which a sentence counts fully
_ANSWERABLE, _RELEVANT, _LIST = 0.5, 0.5, 0.3  # weights of the losses beside the span's


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples, padded.

    Attributes:
        ids: (n, t) token ids.
        mask: (n, t) 1 where there is a token.
        kinds: (n, t) 0 for the question, 1 for the stretch.
        choice: (n, t) whether an answer may begin or end here; `[CLS]` stands for none.
        members: (n, s, t) share of each token in each sentence's mean.
    """

    ids: Tensor
    mask: Tensor
    kinds: Tensor
    choice: Tensor
    members: Tensor

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Batch:
        """Padded to the longest."""
        size, width = len(examples), max(len(one.ids) for one in examples)
        ids = torch.zeros(size, width, dtype=torch.long)
        members = torch.zeros(size, max(len(one.places) for one in examples), width)
        for row, one in enumerate(examples):
            ids[row, : len(one.ids)] = torch.tensor(one.ids)
            for number, (start, end) in enumerate(one.places):
                members[row, number, start:end] = 1 / max(1, end - start)
        lengths = torch.tensor([[len(one.ids)] for one in examples])
        firsts = torch.tensor([[one.first] for one in examples])
        at = torch.arange(width)
        choice = ((at >= firsts) & (at < lengths - 1)) | (at == 0)
        kinds = (at >= firsts) & (at < lengths)
        return cls(ids, (at < lengths).long(), kinds.long(), choice, members)


@dataclass(frozen=True, slots=True)
class Logits:
    """What the reader says: (n, t) starts and ends, (n,) answerable, (n, s) relevant."""

    starts: Tensor
    ends: Tensor
    answerable: Tensor
    relevant: Tensor


class Reader(nn.Module):
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
        self.span = nn.Linear(size, 2)
        self.answerable = nn.Linear(size, 1)
        self.relevant = nn.Linear(size, 1)
        for head in (self.span, self.answerable, self.relevant):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, batch: Batch) -> Logits:
        """Logits in float32."""
        with torch.autocast("cpu", torch.bfloat16):
            states = self.encoder(
                input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.kinds
            ).last_hidden_state
        states = states.float()
        spans = self.span(states).masked_fill(~batch.choice[..., None], _LOW)
        relevant = self.relevant(batch.members @ states)[..., 0]
        return Logits(spans[..., 0], spans[..., 1], self.answerable(states[:, 0])[:, 0], relevant)

    def tuned(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: each for name, each in self.named_parameters() if each.requires_grad}


def reading_loss(logits: Logits, examples: Sequence[Example]) -> Tensor:
    """Of questions on passages: span, answerable, and relevance where it is known."""
    answerable = torch.tensor([float(bool(one.answers)) for one in examples])
    loss = _span_loss(logits, examples)
    loss = loss + _ANSWERABLE * binary_cross_entropy_with_logits(logits.answerable, answerable)
    known = [i for i, one in enumerate(examples) if one.relevant is not None]
    if known:
        parts = [_relevance_loss(logits.relevant[i : i + 1], [examples[i]]) for i in known]
        loss = loss + torch.stack(parts).mean()
    return loss


def meeting_loss(logits: Logits, examples: Sequence[Example]) -> Tensor:
    """Of windows of one meeting beside one question."""
    return _relevance_loss(logits.relevant, examples)


def _span_loss(logits: Logits, examples: Sequence[Example]) -> Tensor:
    """Negative log likelihood of all annotated answers together (Clark and Gardner 2018)."""
    pairs = [one.answers or [(0, 0)] for one in examples]
    width = max(map(len, pairs))
    padded = torch.tensor([[*each, *[each[0]] * (width - len(each))] for each in pairs])
    real = torch.arange(width) < torch.tensor([[len(each)] for each in pairs])
    starts, ends = logits.starts.log_softmax(-1), logits.ends.log_softmax(-1)
    likely = starts.gather(1, padded[..., 0]) + ends.gather(1, padded[..., 1])
    return -likely.masked_fill(~real, float("-inf")).logsumexp(1).mean()


def _relevance_loss(relevant: Tensor, examples: Sequence[Example]) -> Tensor:
    """Each sentence for itself, and the relevant ones before all others of these examples."""
    found, held, weight = [], [], []
    for row, one in enumerate(examples):
        found.append(relevant[row, : len(one.places)])
        held += one.relevant or []
        weight += [min(1.0, (end - start) / _WHOLE) for start, end in one.places]
    logits, target, weights = torch.cat(found), torch.tensor(held).float(), torch.tensor(weight)
    loss = binary_cross_entropy_with_logits(logits, target, weight=weights, reduction="sum")
    loss = _RELEVANT * loss / weights.sum().clamp(min=1e-3)
    if 0 < target.sum() < len(target):
        weighed = logits + weights.clamp(min=1e-3).log()
        loss = loss + _LIST * (weighed.logsumexp(0) - weighed[target > 0].logsumexp(0))
    return loss
