"""Compiled or not, by one thread or several, states are rotated by the same angles."""

from __future__ import annotations

import pytest
import torch

from generator.kernels.library import library, shares_thread_pool
from generator.ms_poe import rotation as module
from generator.ms_poe.rotation import Rotation, query_key_products, rotate_groups_
from indexing.kernels.library import Unavailable
from indexing.nn.rope import rotate_


@pytest.fixture
def compiled() -> None:
    try:
        library()
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_threads", lambda: request.param)


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


PLACES = [[3, 0, 1, 2]]
EACH_ROW = [[3, 0, 1, 2], [0, 1, 2, 3], [1, 1, 3, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("places", [PLACES, EACH_ROW], ids=["static", "a row"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("size", "pairs"), [(64, 32), (20, 10), (24, 8)])
@pytest.mark.usefixtures("compiled", "threads")
def test_each_group_by_its_angles(
    dtype: torch.dtype, places: list[list[int]], rows: int, size: int, pairs: int
) -> None:
    """In bfloat16 a sum may round to the next number; sizes past the pairs stay as they are."""
    draw = torch.Generator().manual_seed(size + rows)
    states = torch.randn(3, 7, 4, 2, size, generator=draw).to(dtype)
    rotation = random_rotation(rows, 7, pairs, many=4, index=places)
    before, expected = states.clone(), one_by_one(states, rotation).to(dtype)
    rotate_groups_(states, rotation)
    near = 1e-6 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(states, expected, atol=near, rtol=near)
    assert not torch.equal(states[..., : 2 * pairs], before[..., : 2 * pairs])
    assert torch.equal(states[..., 2 * pairs :], before[..., 2 * pairs :])
    if dtype == torch.bfloat16:
        assert (states != expected).float().mean() < 0.01


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("size", "pairs"), [(64, 32), (20, 10), (24, 8)])
@pytest.mark.usefixtures("compiled", "threads")
def test_products_with_rotated_keys(dtype: torch.dtype, rows: int, size: int, pairs: int) -> None:
    draw = torch.Generator().manual_seed(size)
    keys = torch.randn(3, 7, 4, 1, size, generator=draw).to(dtype)
    queries = torch.randn(3, 4, 2, size, generator=draw)
    rotation = random_rotation(rows, 7, pairs, many=1, index=[[0, 0, 0, 0]])
    before, rotated = keys.clone(), one_by_one(keys, rotation)
    expected = torch.stack([(queries * rotated[:, i]).sum(-1) for i in range(7)], dim=-1)
    torch.testing.assert_close(
        query_key_products(queries, keys, rotation), expected, atol=1e-5, rtol=1e-5
    )
    assert torch.equal(keys, before)


@pytest.mark.usefixtures("compiled", "threads")
def test_no_rotation_changes_nothing() -> None:
    states = torch.randn(1, 5, 2, 3, 16).bfloat16()
    before = states.clone()
    rotate_groups_(
        states, Rotation(torch.ones(1, 5, 1, 8), torch.zeros(1, 5, 1, 8), torch.tensor([[0, 0]]))
    )
    assert torch.equal(states, before)


@pytest.mark.parametrize("places", [PLACES, EACH_ROW], ids=["static", "a row"])
def test_without_a_compiler_pytorch_rotates(
    monkeypatch: pytest.MonkeyPatch, places: list[list[int]]
) -> None:
    monkeypatch.setattr(module, "_compiled", lambda: None)
    states, keys = torch.randn(3, 5, 4, 3, 16), torch.randn(3, 5, 4, 1, 16)
    queries, rotation = torch.randn(3, 4, 3, 16), random_rotation(1, 5, 8, many=4, index=places)
    expected, rotated = one_by_one(states, rotation), one_by_one(keys, rotation)
    rotate_groups_(states, rotation)
    torch.testing.assert_close(states, expected)
    products = torch.stack([(queries * rotated[:, i]).sum(-1) for i in range(5)], dim=-1)
    torch.testing.assert_close(
        query_key_products(queries, keys, rotation), products, atol=1e-5, rtol=1e-5
    )


def test_states_that_lie_apart_are_rotated_too() -> None:
    wide = torch.randn(1, 5, 2, 3, 32)
    states, rotation = wide[..., :16], random_rotation(1, 5, 8, many=1, index=[[0, 0]])
    expected = states.clone()
    rotate_(expected, *rotation.by_head())
    rotate_groups_(states, rotation)
    torch.testing.assert_close(states, expected)


@pytest.mark.usefixtures("compiled")
def test_threads_of_another_pool_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module._threads() == (torch.get_num_threads() if shares_thread_pool() else 1)
    monkeypatch.setattr(module, "shares_thread_pool", lambda: False)
    assert module._threads() == 1
