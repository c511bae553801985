"""The angles by which Ms-PoE rotates queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """The angles by which the heads of a layer rotate at each token."""

    cos: Tensor  # float32 (B or 1, n, R, h), by ratio and pair of dimensions
    sin: Tensor  # as `cos`
    index: Tensor  # int64 (B or 1, K), which of the R angles each key/value head takes

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
