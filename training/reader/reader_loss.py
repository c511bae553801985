"""Losses of the reader: of words, of stretches that answer, of sentences that do.

A group is a question beside one stretch that answers it and others that do not (`groups`); what
the reader says of them is compared within it, as it is in an answer.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from groups import KINDS
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, pad, softplus

from generator.reader.cross_encoder import CrossEncoder, Logits

Arrays = Mapping[str, Tensor]
"""Of a batch of groups, by the names in `groups.Batch`."""

_WHOLE = 24  # tokens from which a sentence counts fully
_ANSWERABLE, _ORDER, _RELEVANT, _LIST, _STRETCH = 0.5, 0.3, 0.5, 0.3, 0.3  # beside the span's
_OTHER = 0.5  # weight of a stretch of another passage
_NEAR = ("near miss", "changed", "without")
_FAR = -1e4


def read(model: CrossEncoder, arrays: Arrays) -> Logits:
    """Logits of a batch; the encoder computes in bfloat16."""
    ids, lengths, firsts = arrays["ids"].long(), arrays["lengths"], arrays["firsts"]
    at = torch.arange(ids.shape[1], device=ids.device)
    mask = at < lengths[:, None]
    types = (at >= firsts[:, None]) & mask
    choice = (types & (at < lengths[:, None] - 1)) | (at == 0)
    with torch.autocast(ids.device.type, torch.bfloat16):
        encoded = model.states(ids, mask.long(), types.long())
    states = encoded.float()
    spans = model.span(states).masked_fill(~choice[..., None], _FAR)
    low, high = arrays["places"].long().unbind(-1)
    sums = pad(model.relevant(states)[..., 0].double().cumsum(1), (1, 0))
    means = (sums.gather(1, high) - sums.gather(1, low)) / (high - low).clamp(min=1)
    answerable = model.answerable(states[:, 0])[:, 0]
    return Logits(spans[..., 0], spans[..., 1], answerable, means.float())


def loss(logits: Logits, arrays: Arrays, groups: int) -> Tensor:
    """All of them together, of a batch of so many groups."""
    kinds = arrays["kinds"]
    answered = kinds == KINDS["answered"]
    weight = torch.where(kinds == KINDS["other passage"], _OTHER, 1.0)
    weight = weight * (kinds != KINDS["meeting"])
    total = weight.sum().clamp(min=1e-3)
    answerable = binary_cross_entropy_with_logits(
        logits.answerable, answered.float(), reduction="none"
    )
    own = (_span(logits, arrays) + _ANSWERABLE * answerable) * weight
    some = logits.starts[:, 1:].logsumexp(1) + logits.ends[:, 1:].logsumexp(1)
    words = some - logits.starts[:, 0] - logits.ends[:, 0]
    group = arrays["group"]
    order = _order(words / 2, kinds, group) + _order(logits.answerable, kinds, group)
    asked = kinds != KINDS["meeting"]
    stretch = _listed(words[asked], group[asked], answered[asked], groups)
    relevant = _relevance(logits.relevant, arrays, groups)
    return own.sum() / total + _ORDER * order + _STRETCH * stretch + relevant


def _span(logits: Logits, arrays: Arrays) -> Tensor:
    """(n,) negative log likelihood of all annotated answers together (Clark and Gardner 2018)."""
    first, last = arrays["answers"].long().unbind(-1)
    starts, ends = logits.starts.log_softmax(-1), logits.ends.log_softmax(-1)
    likely = starts.gather(1, first) + ends.gather(1, last)
    return -likely.masked_fill(~arrays["real"], float("-inf")).logsumexp(1)


def _order(scores: Tensor, kinds: Tensor, group: Tensor) -> Tensor:
    """Answered stretches before near misses, and before the others of their group (RankNet).

    Burges et al. 2005: the logistic loss of the difference of two scores.
    """
    pairs = softplus(scores[None, :] - scores[:, None])
    answered = (kinds == KINDS["answered"])[:, None]
    near = torch.stack([kinds == KINDS[each] for each in _NEAR]).any(0)[None, :]
    other = (kinds == KINDS["other passage"])[None, :] & (group[:, None] == group[None, :])
    parts = [
        (pairs * which).sum() / which.sum().clamp(min=1)
        for which in (answered & near, answered & other)
    ]
    return (parts[0] + parts[1]) / 2


def _relevance(relevant: Tensor, arrays: Arrays, groups: int) -> Tensor:
    """Each sentence for itself, and the relevant ones before all others of their group."""
    known = arrays["known"]
    sizes = (arrays["places"][..., 1] - arrays["places"][..., 0]).float()
    there = (sizes > 0) & known[:, None]
    weights = (sizes / _WHOLE).clamp(max=1.0) * there
    each = binary_cross_entropy_with_logits(relevant, arrays["relevant"], reduction="none")
    own = (each * weights).sum(1) / weights.sum(1).clamp(min=1e-3)
    scores = (relevant + weights.clamp(min=1e-3).log())[there]
    group = arrays["group"][:, None].expand_as(relevant)[there]
    listed = _listed(scores, group, (arrays["relevant"] > 0)[there], groups)
    return _RELEVANT * (own * known).sum() / known.sum().clamp(min=1) + _LIST * listed


def _listed(scores: Tensor, group: Tensor, right: Tensor, groups: int) -> Tensor:
    """The right ones of each group before all of it, where it has both kinds."""
    some = [
        torch.zeros(groups, device=scores.device).index_add(0, group, which.float()) > 0
        for which in (right, ~right)
    ]
    both = some[0] & some[1]
    gap = _logsumexp(scores, group, groups) - _logsumexp(scores[right], group[right], groups)
    return (gap * both).sum() / both.sum().clamp(min=1)


def _logsumexp(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """(groups,) of the values of each."""
    top = torch.full((groups,), _FAR, device=values.device)
    top = top.scatter_reduce(0, group, values.detach(), "amax")
    sums = torch.zeros(groups, device=values.device)
    return top + sums.index_add(0, group, (values - top[group]).exp()).clamp(min=1e-30).log()
