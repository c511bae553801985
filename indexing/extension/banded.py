"""Attention over bands of distances, in memory that grows with n and not with n squared.

Each band says which queries and keys (already turned to their positions) meet at which distances
i - j. One softmax runs over all bands together. Queries are taken a block at a time; for each
block only the keys within its bands are touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

BUDGET = 1 << 23
"""How many scores, over all heads, exist at a time: 32 MiB in float32."""

LONGEST_BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Pairs with low <= i - j <= high.

    Attributes:
        queries: (H, n, D).
        keys: (K, n, D); K divides H, and H / K query heads share a key head.
        low: Smallest distance; negative where the key comes after the query.
        high: Largest distance.
    """

    queries: Tensor
    keys: Tensor
    low: int
    high: int

    def reach(self, block: range) -> range:
        """The keys that a block of queries meets in this band."""
        return range(
            max(0, block.start - self.high), min(self.keys.shape[1], block.stop - self.low)
        )


def attend(bands: list[Band], values: Tensor, scaling: float) -> Tensor:
    """Attention of n queries over the pairs of all bands.

    Args:
        bands: Disjoint bands that give every query at least one key.
        values: (K, n, D).
        scaling: What scores are multiplied by.

    Returns:
        (n, H, D), in the dtype of the values.
    """
    heads, n, _ = bands[0].queries.shape
    output = values.new_empty(n, heads, values.shape[-1])
    size = block_size(bands, heads, n)
    for start in range(0, n, size):
        stop = min(start + size, n)
        output[start:stop] = _block(bands, values, scaling, start, stop)
    return output


def block_size(bands: list[Band], heads: int, n: int) -> int:
    """Queries to a block, so that its scores stay within the budget."""
    keys = sum(min(n, band.high - band.low + LONGEST_BLOCK) for band in bands)
    return max(1, min(LONGEST_BLOCK, BUDGET // (heads * keys)))


def _block(bands: list[Band], values: Tensor, scaling: float, start: int, stop: int) -> Tensor:
    """Attention of queries start..stop: (stop - start, H, D)."""
    block = range(start, stop)
    met = [band for band in bands if band.reach(block)]
    scores = torch.cat([_scores(band, scaling, block) for band in met], dim=-1)
    weights = scores.softmax(dim=-1).to(values.dtype)
    groups = values.shape[0]
    mixed = values.new_zeros(groups, weights.shape[1], values.shape[-1])
    column = 0
    for reach in (band.reach(block) for band in met):
        part = weights[..., column : column + len(reach)]
        mixed += part @ values[:, reach.start : reach.stop]
        column += len(reach)
    return mixed.view(groups, -1, stop - start, values.shape[-1]).flatten(0, 1).transpose(0, 1)


def _scores(band: Band, scaling: float, block: range) -> Tensor:
    """Scores of a block in one band, float32 (K, H / K * block, keys); -inf outside the band."""
    groups, _, width = band.keys.shape
    reach = band.reach(block)
    queries = band.queries[:, block.start : block.stop].reshape(groups, -1, width)
    keys = band.keys[:, reach.start : reach.stop]
    scores = (queries @ keys.transpose(1, 2)).float() * scaling
    rows = torch.arange(block.start, block.stop, device=scores.device)
    distance = rows[:, None] - torch.arange(reach.start, reach.stop, device=scores.device)
    outside = (distance < band.low) | (distance > band.high)
    shaped = scores.view(groups, -1, len(block), len(reach))
    return shaped.masked_fill_(outside, float("-inf")).view_as(scores)
