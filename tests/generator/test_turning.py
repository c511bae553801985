"""Compiled or not, states are turned by the same angles."""

from __future__ import annotations

import pytest
import torch

from generator import turning
from generator.compiled import Unavailable, library
from generator.turning import turn_
from indexing.rope import rotate_


@pytest.fixture
def compiled() -> None:
    try:
        library()
    except Unavailable as error:
        pytest.skip(str(error))


def waves(*shape: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    angles = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * 40
    return angles.cos(), angles.sin()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shared", [False, True], ids=["a group", "all groups"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("size", "pairs"), [(64, 32), (20, 10), (24, 8)])
@pytest.mark.usefixtures("compiled")
def test_the_same_as_by_pytorch(
    dtype: torch.dtype, shared: bool, rows: int, size: int, pairs: int
) -> None:
    """In bfloat16 a sum may round to the next number; sizes past the pairs stay as they are."""
    draw = torch.Generator().manual_seed(size + rows)
    states = torch.randn(3, 7, 4, 2, size, generator=draw).to(dtype)
    cosines, sines = waves(rows, 7, 1 if shared else 4, 1, pairs, seed=rows)
    expected = states.clone()
    rotate_(expected, cosines, sines)
    before = states.clone()
    turn_(states, cosines, sines)
    near = 1e-6 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(states, expected, atol=near, rtol=near)
    assert not torch.equal(states[..., : 2 * pairs], before[..., : 2 * pairs])
    assert torch.equal(states[..., 2 * pairs :], before[..., 2 * pairs :])
    if dtype == torch.bfloat16:
        assert (states != expected).float().mean() < 0.01


@pytest.mark.usefixtures("compiled")
def test_no_turn_changes_nothing() -> None:
    states = torch.randn(1, 5, 2, 3, 16).bfloat16()
    before = states.clone()
    turn_(states, torch.ones(1, 5, 1, 1, 8), torch.zeros(1, 5, 1, 1, 8))
    assert torch.equal(states, before)


def test_without_a_compiler_pytorch_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turning, "_compiled", lambda: None)
    states = torch.randn(1, 5, 2, 3, 16)
    expected, (cosines, sines) = states.clone(), waves(1, 5, 2, 1, 8, seed=0)
    rotate_(expected, cosines, sines)
    turn_(states, cosines, sines)
    assert torch.equal(states, expected)


def test_states_that_lie_apart_are_turned_too() -> None:
    wide = torch.randn(1, 5, 2, 3, 32)
    states = wide[..., :16]
    expected, (cosines, sines) = states.clone(), waves(1, 5, 2, 1, 8, seed=0)
    rotate_(expected, cosines, sines)
    turn_(states, cosines, sines)
    torch.testing.assert_close(states, expected)
