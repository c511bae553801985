"""Queries and keys in, rotated by Ms-PoE's positions out: of a prompt, and of one token."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from generator.kernels import library as kernels
from generator.kernels.library import (
    BF16,
    F32,
    States,
    library,
    shares_thread_pool,
)
from indexing.kernels.library import Unavailable

if TYPE_CHECKING:
    from torch import Tensor

_MAX_HEAD_DIM = 1024  # as in `c/vectors.h`


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

    def as_struct(self) -> kernels.Rotation | None:
        """For the library; None where a tensor is not contiguous."""
        if not all(each.is_contiguous() for each in (self.cos, self.sin, self.index)):
            return None
        return kernels.Rotation(
            cos=self.cos.data_ptr(),
            sin=self.sin.data_ptr(),
            index=self.index.data_ptr(),
            count=self.cos.shape[2],
            pairs=self.cos.shape[3],
            angles_by_row=len(self.cos) > 1,
            index_by_row=len(self.index) > 1,
        )


def rotate_groups_(states: Tensor, rotation: Rotation) -> None:
    """Rotate states in place, computed in float32; by compiled code where there is some.

    Args:
        states: (B, n, K, H / K, D). Dimensions past 2 h, if any, stay as they are.
        rotation: By what angles.
    """
    from indexing.nn.rope import rotate_

    data, angles = _as_struct(states), rotation.as_struct()
    if data is None or angles is None or (compiled := _compiled()) is None:
        rotate_(states, *rotation.by_head())
        return
    compiled.rotate_tokens(byref(data), byref(angles), _threads())


def query_key_products(queries: Tensor, keys: Tensor, rotation: Rotation) -> Tensor:
    """Products of one query a head with all keys of its row, rotated for it, float32.

    Args:
        queries: Float32 (B, K, H / K, D), rotated already.
        keys: (B, n, K, 1, D), not rotated; they stay as they are.
        rotation: By what angles the keys rotate.

    Returns:
        (B, K, H / K, n).
    """
    import torch

    from indexing.nn.rope import rotate_

    data = _as_struct(keys) if keys.shape[-1] <= _MAX_HEAD_DIM else None
    angles = rotation.as_struct()
    if data is None or angles is None or (compiled := _compiled()) is None:
        rotated = keys.to(torch.float32, copy=True)
        rotate_(rotated, *rotation.by_head())
        return torch.einsum("bkgd,bnkd->bkgn", queries, rotated[:, :, :, 0])
    queries = queries.contiguous()
    products = torch.empty(*queries.shape[:3], keys.shape[1], dtype=torch.float32)
    compiled.query_key_products(
        *(queries.data_ptr(), queries.shape[2], byref(data)),
        *(byref(angles), products.data_ptr(), _threads()),
    )
    return products


def _as_struct(states: Tensor) -> States | None:
    """For the library; None where they are elsewhere than it reads them."""
    import torch

    dtype = {torch.bfloat16: BF16, torch.float32: F32}.get(states.dtype)
    here = states.device.type == "cpu" and not states.requires_grad
    if dtype is None or not here or not states.is_contiguous():
        return None
    rows, n, num_kv_heads, heads_per_group, head_dim = states.shape
    return States(states.data_ptr(), rows, n, dtype, num_kv_heads, heads_per_group, head_dim)


@cache
def _compiled() -> Any:  # noqa: ANN401 - functions found by name
    """The library, or None."""
    try:
        return library()
    except Unavailable:
        return None


def _threads() -> int:
    import torch

    return torch.get_num_threads() if shares_thread_pool() else 1


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
