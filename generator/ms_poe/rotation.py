"""Queries and keys turned as Ms-PoE wants them: of a prompt, and of one token."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from generator.kernels.library import BF16, F32, States, Turns, Unavailable, library, one_pool

if TYPE_CHECKING:
    from torch import Tensor

_LARGEST_HEAD = 1024  # as in `c/vectors.h`


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """By what angles the groups of a layer turn at each token.

    Attributes:
        cosines: Float32 (B or 1, n, R, h), of each of R waves, one for each pair of dimensions.
        sines: As the cosines.
        places: Int64 (B or 1, K), which wave each group follows.
    """

    cosines: Tensor
    sines: Tensor
    places: Tensor

    def picked(self) -> tuple[Tensor, Tensor]:
        """Cosines and sines of each group, (B or 1, n, K or 1, 1, h)."""
        one, two = (self._picked(each)[..., None, :] for each in (self.cosines, self.sines))
        return one, two

    def _picked(self, waves: Tensor) -> Tensor:
        import torch

        if waves.shape[2] == 1:
            return waves
        if len(self.places) == 1:
            return waves.index_select(2, self.places[0])
        return torch.take_along_dim(waves, self.places[:, None, :, None], dim=2)

    def in_c(self) -> Turns | None:
        """For the library; None where they do not lie as it reads them."""
        if not all(each.is_contiguous() for each in (self.cosines, self.sines, self.places)):
            return None
        return Turns(
            cosines=self.cosines.data_ptr(),
            sines=self.sines.data_ptr(),
            places=self.places.data_ptr(),
            waves=self.cosines.shape[2],
            pairs=self.cosines.shape[3],
            many_waves=len(self.cosines) > 1,
            many_places=len(self.places) > 1,
        )


def rotate_groups_(states: Tensor, waves: Rotation) -> None:
    """Turns states in place, computed in float32: in one pass by compiled code where it is there.

    Args:
        states: (B, n, K, H / K, D). Dimensions past 2 h, if any, stay as they are.
        waves: By what angles.
    """
    from indexing.nn.rope import rotate_

    ours, turns = _in_c(states), waves.in_c()
    if ours is None or turns is None or (compiled := _compiled()) is None:
        rotate_(states, *waves.picked())
        return
    compiled.turn_tokens(byref(ours), byref(turns), _threads())


def query_key_products(queries: Tensor, keys: Tensor, waves: Rotation) -> Tensor:
    """Products of one query a head with all keys of its row, which are turned for it, float32.

    Args:
        queries: Float32 (B, K, H / K, D), turned already.
        keys: (B, n, K, 1, D), not turned; they stay as they are.
        waves: By what angles the keys turn.

    Returns:
        (B, K, H / K, n).
    """
    import torch

    from indexing.nn.rope import rotate_

    ours = _in_c(keys) if keys.shape[-1] <= _LARGEST_HEAD else None
    turns = waves.in_c()
    if ours is None or turns is None or (compiled := _compiled()) is None:
        turned = keys.to(torch.float32, copy=True)
        rotate_(turned, *waves.picked())
        return torch.einsum("bkgd,bnkd->bkgn", queries, turned[:, :, :, 0])
    queries = queries.contiguous()
    scores = torch.empty(*queries.shape[:3], keys.shape[1])
    compiled.query_keys(
        *(queries.data_ptr(), queries.shape[2], byref(ours)),
        *(byref(turns), scores.data_ptr(), _threads()),
    )
    return scores


def _in_c(states: Tensor) -> States | None:
    """For the library; None where they do not lie as it reads them."""
    import torch

    kind = {torch.bfloat16: BF16, torch.float32: F32}.get(states.dtype)
    here = states.device.type == "cpu" and not states.requires_grad
    if kind is None or not here or not states.is_contiguous():
        return None
    rows, n, groups, each, size = states.shape
    return States(states.data_ptr(), rows, n, kind, groups, each, size)


@cache
def _compiled() -> Any:  # noqa: ANN401 - functions found by name
    """The library, or None."""
    try:
        return library()
    except Unavailable:
        return None


def _threads() -> int:
    import torch

    return torch.get_num_threads() if one_pool() else 1


@dataclass(frozen=True, slots=True, eq=False)
class TokenRotation:
    """The turns of a pass of one token: few calls a layer count for more there than few products.

    Attributes:
        cosines: By layer, float32 (B or 1, H + K, d), each half repeated.
        sines: As the cosines, the first half negative.
    """

    cosines: tuple[Tensor, ...]
    sines: tuple[Tensor, ...]

    def turn(self, number: int, queries: Tensor, keys: Tensor) -> None:
        """Turns (B, 1, K, H / K, D) and (B, 1, K, 1, D) of one layer where they lie."""
        import torch

        cosines, sines = self.cosines[number], self.sines[number]
        size = cosines.shape[-1]
        if size < queries.shape[-1]:
            queries, keys = queries[..., :size], keys[..., :size]
        rows, heads = len(queries), queries.shape[2] * queries.shape[3]
        flat = queries.reshape(rows, heads, size), keys.reshape(rows, -1, size)
        states = torch.cat(flat, dim=1).float()
        turned = (states * cosines).addcmul_(states.roll(size // 2, -1), sines)
        queries.copy_(turned[:, :heads].view_as(queries))
        keys.copy_(turned[:, heads:].view_as(keys))
