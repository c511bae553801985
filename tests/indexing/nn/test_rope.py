"""Rotations against complex numbers."""

from __future__ import annotations

import numpy as np
import torch

from indexing.nn import rope


def complex_turn(x: np.ndarray, positions: np.ndarray, base: float) -> np.ndarray:
    d = x.shape[-1]
    z = x[..., : d // 2] + 1j * x[..., d // 2 :]
    z = z * np.exp(1j * np.outer(positions, base ** (-2 * np.arange(d // 2) / d)))
    return np.concatenate([z.real, z.imag], axis=-1)


def states(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7))


def _rotated(
    x: torch.Tensor, positions: torch.Tensor, inverse: torch.Tensor, gain: float = 1.0
) -> torch.Tensor:
    return rope.rotate(x, *rope.cos_sin(positions, inverse, gain))


def test_turn_is_a_complex_product() -> None:
    x, at = states(3, 20, 16), torch.linspace(0, 50, 20)
    got = _rotated(x, at, rope.frequencies(16, 10000.0))
    expected = complex_turn(x.double().numpy(), at.double().numpy(), 10000.0)
    np.testing.assert_allclose(got, expected, atol=2e-5)


def test_rotations_compose() -> None:
    x, inverse = states(2, 9, 8), rope.frequencies(8, 1000.0)
    p, q = torch.arange(9), torch.arange(9) * 3 % 7
    twice = _rotated(_rotated(x, p, inverse), q, inverse)
    torch.testing.assert_close(twice, _rotated(x, p + q, inverse), atol=1e-5, rtol=0)


def test_position_zero_changes_nothing() -> None:
    x = states(4, 6, 8)
    assert _rotated(x, torch.zeros(6), rope.frequencies(8, 10.0)).equal(x)


def test_rebased_is_another_base() -> None:
    inverse = rope.frequencies(32, 10000.0)
    torch.testing.assert_close(rope.rescale_base(inverse, 5.0), rope.frequencies(32, 50000.0))
    both = rope.rescale_base(inverse, torch.tensor([1.0, 3.0]))
    assert both[0].equal(inverse)
    torch.testing.assert_close(both[1], rope.frequencies(32, 30000.0))


def test_gain_and_dimensions_that_do_not_turn() -> None:
    x, at = states(5, 12), torch.arange(5)
    inverse = rope.frequencies(8, 100.0)
    got = _rotated(x, at, inverse, gain=2.0)
    assert got[:, 8:].equal(x[:, 8:])
    torch.testing.assert_close(got[:, :8], 2 * _rotated(x[:, :8], at, inverse))


def test_half_precision_turns_in_float32() -> None:
    x, at = states(5, 8).bfloat16(), torch.arange(5) + 1000
    got = _rotated(x, at, rope.frequencies(8, 100.0))
    assert got.dtype == torch.bfloat16
    expected = complex_turn(x.double().numpy(), at.double().numpy(), 100.0)
    np.testing.assert_allclose(got.double(), expected, atol=2e-2)


def test_turning_in_place() -> None:
    x, at = states(5, 12), torch.arange(5)
    inverse = rope.frequencies(8, 100.0)
    wanted = _rotated(x, at, inverse)
    angles = at[:, None] * inverse
    strided = torch.zeros(5, 2, 12)
    strided[:, 1] = x
    rope.rotate_(strided[:, 1], angles.cos(), angles.sin())
    torch.testing.assert_close(strided[:, 1], wanted)
    assert not strided[:, 0].any()
    half = x.bfloat16()
    exact = _rotated(half.float(), at, inverse)
    rope.rotate_(half, angles.cos(), angles.sin())
    assert half.equal(exact.bfloat16())
