"""Queries and keys turned where they lie, as Ms-PoE wants them: of a prompt, and of one token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from generator.compiled import BF16, F32, Unavailable, library

if TYPE_CHECKING:
    from torch import Tensor


def turn_(states: Tensor, cosines: Tensor, sines: Tensor) -> None:
    """Turns states in place, computed in float32: in one pass by compiled code where it is there.

    Args:
        states: (B, n, K, H / K, D). Dimensions past 2 h, if any, stay as they are.
        cosines: Float32 (B or 1, n, K or 1, 1, h), one for each pair of dimensions.
        sines: As the cosines.
    """
    import torch

    from indexing.rope import rotate_

    kind = {torch.bfloat16: BF16, torch.float32: F32}.get(states.dtype)
    plain = states.is_contiguous() and cosines.is_contiguous() and sines.is_contiguous()
    here = states.device.type == "cpu" and not states.requires_grad
    compiled = _compiled() if kind is not None and plain and here else None
    if compiled is None:
        rotate_(states, cosines, sines)
        return
    rows, n, groups, each, size = states.shape
    period, waves, pairs = len(cosines) * n, cosines.shape[2], cosines.shape[-1]
    compiled.turn_tokens(
        *(states.data_ptr(), kind, rows * n, groups, each, size),
        *(cosines.data_ptr(), sines.data_ptr(), period, waves, pairs),
    )


@cache
def _compiled() -> Any:  # noqa: ANN401 - functions found by name
    """The library, or None."""
    try:
        return library()
    except Unavailable:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class OneToken:
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
