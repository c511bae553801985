"""Position awareness: how selectively a head attends; decides which heads keep their positions.

Ms-PoE (Zhang et al., "Found in the Middle", arXiv 2403.04797), section 3.3: the share of keys that
get more than three times the mean attention of the last query. One row of scores a head, O(n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

TIMES_THE_MEAN = 3.0


def awareness(scores: Tensor, seen: Tensor | None = None) -> Tensor:
    """S_P of each head times the keys seen, int64 (B, H): whole numbers, so that equals are equal.

    Of attention logits of one query (B, H, n), over the keys that it sees, bool (B, n); None: all.
    """
    if seen is None:
        return (scores.softmax(dim=-1) * scores.shape[-1] > TIMES_THE_MEAN).sum(dim=-1)
    count = seen.sum(dim=-1)[:, None]
    shares = scores.masked_fill(~seen[:, None], float("-inf")).softmax(dim=-1)
    above = shares * count[..., None] > TIMES_THE_MEAN
    return above.sum(dim=-1)


def ranks(scores: Tensor) -> Tensor:
    """The place of each entry, the highest first, of equals the earlier: int64, same shape."""
    return scores.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)


def ratios(r_min: float, r_max: float, count: int) -> tuple[float, ...]:
    """The ratio of each place: from r_min to r_max in even steps; of a single place, the mean."""
    if count == 1:
        return ((r_min + r_max) / 2,)
    step = (r_max - r_min) / (count - 1)
    return tuple(r_min + step * place for place in range(count))


def last_seen(mask: Tensor | None, rows: int, n: int, window: int | None) -> tuple[Tensor, Tensor]:
    """The last real token of each sequence, and the keys that it sees.

    Args:
        mask: What an attention layer of transformers gets, for n keys: (B, 1, n, >= n) booleans or
            additive numbers, (B, n) of ones and zeros, or None where every token is real.
        rows: B.
        n: Tokens of a sequence, padding included.
        window: How many tokens back the layer sees, or None.

    Returns:
        Positions in the batch, int64 (B,), and bool (B, n).
    """
    import torch  # not before a model is read: corpora import this module, and most need no model

    device = mask.device if mask is not None else None
    at = torch.arange(n, device=device)
    if mask is None:
        last, seen = at[-1:].expand(rows), torch.ones(rows, n, dtype=torch.bool)
    elif mask.ndim == 2:
        seen = mask[:, :n].bool().expand(rows, n)
        last = _last(seen)
    else:
        allowed = mask[:, 0, :, :n]
        if allowed.dtype != torch.bool:
            allowed = allowed > torch.finfo(allowed.dtype).min / 2
        allowed = allowed.expand(rows, n, n)
        last = _last(allowed.diagonal(dim1=1, dim2=2))
        seen = allowed[torch.arange(rows, device=device), last]
    if window is not None:
        seen = seen & (at > last[:, None] - window)
    return last, seen & (at <= last[:, None])


def _last(real: Tensor) -> Tensor:
    """Index of the last True of each row of (B, n)."""
    return real.shape[-1] - 1 - real.flip(-1).int().argmax(dim=-1)
