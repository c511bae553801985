"""Attention over bands of distances, in memory that grows with n and not with n squared.

Each band says which queries and keys (already rotated to their positions) meet at which distances
i - j. One softmax runs over all bands together. Scores exist for one tile of queries and keys at
a time, and the softmax is carried along as in FlashAttention (Dao et al., arXiv 2205.14135):
the largest score so far, the sum of exponentials, and the values weighted by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

BLOCK = 128
"""Queries to a tile."""

BUDGET = 1 << 20
"""Scores to a tile over all heads: 4 MiB in float32, so that a tile stays in the cache."""

_LOWEST = -1e30
"""Below every score, and finite: a row without keys in a tile must not become not-a-number."""


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

    def tiles(self, block: range, width: int) -> Iterator[range]:
        """The keys that a block of queries meets in this band, `width` at a time."""
        first = max(0, block.start - self.high)
        last = min(self.keys.shape[1], block.stop - self.low)
        for start in range(first, last, width):
            yield range(start, min(start + width, last))


def attend(bands: list[Band], values: Tensor, scaling: float) -> Tensor:
    """Attention of n queries over the pairs of all bands.

    Args:
        bands: Disjoint bands that together give every query a key.
        values: (K, n, D).
        scaling: What scores are multiplied by.

    Returns:
        (n, H, D), in the dtype of the values.
    """
    heads, n, _ = bands[0].queries.shape
    output = values.new_empty(n, heads, values.shape[-1])
    for start in range(0, n, BLOCK):
        block = range(start, min(start + BLOCK, n))
        output[block.start : block.stop] = _attend_block(bands, values, scaling, block)
    return output


def _attend_block(bands: list[Band], values: Tensor, scaling: float, block: range) -> Tensor:
    """Attention of a block of queries: (queries, H, D)."""
    kv_heads, _, depth = values.shape
    heads = bands[0].queries.shape[0]
    rows = heads // kv_heads * len(block)
    largest = torch.full((kv_heads, rows, 1), _LOWEST, device=values.device)
    total, weighted = torch.zeros_like(largest), largest.new_zeros(kv_heads, rows, depth)
    for band in bands:
        queries = band.queries[:, block.start : block.stop].reshape(kv_heads, rows, -1) * scaling
        for tile in band.tiles(block, max(1, BUDGET // (heads * len(block)))):
            weights = _scores(band, queries, block, tile)
            higher = torch.maximum(largest, weights.amax(dim=-1, keepdim=True))
            weights.sub_(higher).exp_()
            decay = (largest - higher).exp_()
            total = total * decay + weights.sum(dim=-1, keepdim=True)
            part = weights.to(values.dtype) @ values[:, tile.start : tile.stop]
            weighted = weighted * decay + part
            largest = higher
    output = (weighted / total).to(values.dtype)
    return output.view(heads, len(block), depth).transpose(0, 1)


def _scores(band: Band, queries: Tensor, block: range, tile: range) -> Tensor:
    """Scores of a tile, float32 (K, H / K * queries, keys); -inf outside the band."""
    keys = band.keys[:, tile.start : tile.stop]
    scores = (queries @ keys.transpose(1, 2)).float()
    nearest, furthest = block.start - (tile.stop - 1), block.stop - 1 - tile.start
    if nearest < band.low or furthest > band.high:
        rows = torch.arange(block.start, block.stop, device=scores.device)
        distance = rows[:, None] - torch.arange(tile.start, tile.stop, device=scores.device)
        outside = (distance < band.low) | (distance > band.high)
        shaped = scores.view(keys.shape[0], -1, len(block), len(tile))
        shaped.masked_fill_(outside, float("-inf"))
    return scores
