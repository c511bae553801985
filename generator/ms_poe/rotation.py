"""Queries and keys in, rotated by Ms-PoE's positions out: of a prompt, and of one token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """The angles by which the heads of a layer rotate at each token.

    Attributes:
        cos: Float32 (B or 1, n, R, h), by ratio and pair of dimensions.
        sin: As `cos`.
        index: Int64 (B or 1, K), which of the R angles each key/value head takes.
    """

    cos: Tensor
    sin: Tensor
    index: Tensor

    def by_head(self) -> tuple[Tensor, Tensor]:
        """Cosines and sines of each key/value head, (B or 1, n, K or 1, 1, h)."""
        return self._select(self.cos)[..., None, :], self._select(self.sin)[..., None, :]

    def _select(self, angles: Tensor) -> Tensor:
        import torch

        if angles.shape[2] == 1:
            return angles
        if len(self.index) == 1:
            return angles.index_select(2, self.index[0])
        return torch.take_along_dim(angles, self.index[:, None, :, None], dim=2)


@dataclass(frozen=True, slots=True, eq=False)
class TokenRotation:
    """The rotation of a single token, in few calls a layer: their overhead is most of its time.

    Attributes:
        cos: By layer, float32 (B or 1, H + K, d), each half repeated.
        sin: As `cos`, the first half negative.
    """

    cos: tuple[Tensor, ...]
    sin: tuple[Tensor, ...]

    def rotate_(self, number: int, queries: Tensor, keys: Tensor) -> None:
        """Rotate queries (B, 1, K, H / K, D) and keys (B, 1, K, 1, D) of one layer in place."""
        import torch

        cos, sin = self.cos[number], self.sin[number]
        size = cos.shape[-1]
        if size < queries.shape[-1]:
            queries, keys = queries[..., :size], keys[..., :size]
        rows, heads = len(queries), queries.shape[2] * queries.shape[3]
        flat = queries.reshape(rows, heads, size), keys.reshape(rows, -1, size)
        states = torch.cat(flat, dim=1).float()
        rotated = (states * cos).addcmul_(states.roll(size // 2, -1), sin)
        queries.copy_(rotated[:, :heads].view_as(queries))
        keys.copy_(rotated[:, heads:].view_as(keys))
