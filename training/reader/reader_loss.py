"""Losses of the reader: of words, of answerable stretches, of sentences that answer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from reader_data import Example
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from generator.reader.cross_encoder import Batch, CrossEncoder, Logits

_WHOLE = 24  # tokens from which a sentence counts fully
_ANSWERABLE, _RELEVANT, _LIST = 0.5, 0.5, 0.3  # weights of the losses beside the span's
_ORDER = 0.3  # weight of an answered question before a near miss of the same step
_NEAR = frozenset({"near miss", "changed"})  # kinds of example


def read(model: CrossEncoder, examples: Sequence[Example]) -> Logits:
    """Logits of examples; the encoder computes in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        logits: Logits = model(Batch.of(examples))
    return logits


def reading_loss(logits: Logits, examples: Sequence[Example]) -> Tensor:
    """Of questions on passages: span, answerable, order, and relevance where it is known."""
    answerable = torch.tensor([float(bool(one.answers)) for one in examples])
    loss = _span_loss(logits, examples)
    loss = loss + _ANSWERABLE * binary_cross_entropy_with_logits(logits.answerable, answerable)
    loss = loss + _ORDER * _order_loss(logits, examples)
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


def _order_loss(logits: Logits, examples: Sequence[Example]) -> Tensor:
    """Each answered question before each near miss, by span and by answerable (RankNet).

    Burges et al. 2005: the logistic loss of the difference of two scores.
    """
    kinds = [one.kind for one in examples]
    answered = torch.tensor([kind == "answered" for kind in kinds])
    near = torch.tensor([kind in _NEAR for kind in kinds])
    if not (answered.any() and near.any()):
        return torch.zeros(())
    some = logits.starts[:, 1:].logsumexp(1) + logits.ends[:, 1:].logsumexp(1)
    span = some - logits.starts[:, 0] - logits.ends[:, 0]
    scores = torch.stack([span / 2, logits.answerable])
    pairs = scores[:, answered, None] - scores[:, None, near]
    return softplus(-pairs).mean()


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
