"""Attention over bands of distances, in memory that is linear in n.

Each band says which queries and keys (already rotated to their positions) meet at which distances
i - j. One softmax runs over all bands together. Attention is computed for one tile of queries and
keys at a time, and tiles are joined by the logarithms of their sums of exponentials, as in
FlashAttention (Dao et al., arXiv 2205.14135). On a CPU PyTorch's fused kernel computes a tile and
never writes its scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

BLOCK = 256
"""Queries to a tile."""

BUDGET = 1 << 20
"""Scores to a tile over all heads, where they are written: 4 MiB in float32."""

_LOWEST = -1e30
"""Below every score, and finite: a row without keys in a tile must not become not-a-number."""


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Pairs with low <= i - j <= high."""

    queries: Tensor  # (H, n, D)
    keys: Tensor  # (K, n, D); K divides H, and H / K query heads share a key head
    low: int  # smallest distance; negative where the key comes after the query
    high: int  # largest distance

    def tiles(self, block: range, width: int) -> Iterator[range]:
        """The keys that a block of queries meets in this band, at most `width` at a time.

        Keys that every query of the block meets are in tiles of their own, which need no mask.
        """
        first = max(0, block.start - self.high)
        last = min(self.keys.shape[1], block.stop - self.low)
        all_from = max(first, block.stop - 1 - self.high)
        all_to = min(last, block.start - self.low + 1)
        bounds = [first, all_from, all_to, last] if all_from < all_to else [first, last]
        for begin, end in pairwise(bounds):
            for start in range(begin, end, width):
                yield range(start, min(start + width, end))

    def mask(self, block: range, tile: range) -> Tensor | None:
        """What to add to the scores of a tile, (queries, keys); None where all pairs are inside."""
        nearest, furthest = block.start - (tile.stop - 1), block.stop - 1 - tile.start
        if self.low <= nearest and furthest <= self.high:
            return None
        device = self.keys.device
        rows = torch.arange(block.start, block.stop, device=device)
        distance = rows[:, None] - torch.arange(tile.start, tile.stop, device=device)
        outside = (distance < self.low) | (distance > self.high)
        added = torch.zeros(outside.shape, dtype=self.keys.dtype, device=device)
        return added.masked_fill_(outside, _LOWEST)


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
    kv_heads, n, depth = values.shape
    heads = bands[0].queries.shape[0]
    shared = heads // kv_heads
    part = _fused if _has_fused(values, bands[0].queries) else _written
    width = n if part is _fused else max(1, BUDGET // (heads * len(block)))
    attended, logarithm = None, None
    for band in bands:
        queries = band.queries[:, block.start : block.stop].reshape(
            kv_heads, shared * len(block), -1
        )
        for tile in band.tiles(block, width):
            mask = band.mask(block, tile)
            keys, read = (each[:, tile.start : tile.stop] for each in (band.keys, values))
            repeated = mask if mask is None or shared == 1 else mask.repeat(shared, 1)
            more, its = part(queries, keys, read, repeated, scaling)
            if attended is None or logarithm is None:
                attended, logarithm = more.float(), its
            else:
                both = torch.logaddexp(logarithm, its)
                attended = attended * (logarithm - both).exp() + more * (its - both).exp()
                logarithm = both
    assert attended is not None
    return attended.to(values.dtype).view(heads, len(block), depth).transpose(0, 1)


def _written(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scaling: float
) -> tuple[Tensor, Tensor]:
    """Attention of a tile, (K, rows, D), and the logarithm of its sums, float32 (K, rows, 1)."""
    scores = (queries * scaling @ keys.transpose(1, 2)).float()
    if mask is not None:
        scores += mask
    logarithm = scores.logsumexp(dim=-1, keepdim=True)
    return (scores - logarithm).exp_().to(values.dtype) @ values, logarithm


def _fused(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scaling: float
) -> tuple[Tensor, Tensor]:
    """The same by PyTorch's kernel for CPUs, the one behind `scaled_dot_product_attention`."""
    operators: Any = torch.ops.aten
    attended, logarithm = operators._scaled_dot_product_flash_attention_for_cpu(
        queries[None], keys[None], values[None], attn_mask=mask, scale=scaling
    )
    return attended[0], logarithm[0, ..., None]


def _has_fused(values: Tensor, queries: Tensor) -> bool:
    """Whether the kernel is there for such values."""
    return (
        values.device.type == "cpu"
        and values.shape[-1] == queries.shape[-1]
        and hasattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu")
    )
