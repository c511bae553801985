"""States are rotated by the angles of their groups."""

from __future__ import annotations

import pytest
import torch

from generator.ms_poe.rotation import Rotation
from indexing.nn.rope import rotate_


def random_rotation(
    rows: int, n: int, pairs: int, *, many: int, index: list[list[int]]
) -> Rotation:
    draw = torch.Generator().manual_seed(rows + n)
    angles = torch.randn(rows, n, many, pairs, generator=draw) * 40
    return Rotation(angles.cos(), angles.sin(), torch.tensor(index))


def one_by_one(states: torch.Tensor, rotation: Rotation) -> torch.Tensor:
    """Row by row, token by token, group by group."""
    found = states.to(torch.float32, copy=True)
    pairs = rotation.cos.shape[-1]
    for row, token, group in torch.cartesian_prod(*map(torch.arange, states.shape[:3])).tolist():
        angle = rotation.index[min(row, len(rotation.index) - 1), group]
        at = min(row, len(rotation.cos) - 1), token, angle
        cos, sin = rotation.cos[at], rotation.sin[at]
        here = found[row, token, group]
        one, two = here[:, :pairs].clone(), here[:, pairs : 2 * pairs].clone()
        here[:, :pairs] = one * cos - two * sin
        here[:, pairs : 2 * pairs] = two * cos + one * sin
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "places", [[[3, 0, 1, 2]], [[3, 0, 1, 2], [0, 1, 2, 3], [1, 1, 3, 0]]], ids=["static", "a row"]
)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("size", "pairs"), [(64, 32), (20, 10), (24, 8)])
def test_each_group_by_its_angles(
    dtype: torch.dtype, places: list[list[int]], rows: int, size: int, pairs: int
) -> None:
    """In bfloat16 a sum may round to the next number; sizes past the pairs stay as they are."""
    draw = torch.Generator().manual_seed(size + rows)
    states = torch.randn(3, 7, 4, 2, size, generator=draw).to(dtype)
    rotation = random_rotation(rows, 7, pairs, many=4, index=places)
    before, expected = states.clone(), one_by_one(states, rotation).to(dtype)
    rotate_(states, *rotation.by_head())
    near = 1e-6 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(states, expected, atol=near, rtol=near)
    assert not torch.equal(states[..., : 2 * pairs], before[..., : 2 * pairs])
    assert torch.equal(states[..., 2 * pairs :], before[..., 2 * pairs :])
