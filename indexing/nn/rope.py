"""Rotary position embeddings: angles and rotations, pure functions.

RoFormer (Su et al., arXiv 2104.09864), section 3.4.2, in the half-split layout that Hugging Face
models use: dimension k of a head rotates together with dimension k + d/2, by the angle
`position * base ** (-2k / d)`. Rotations compose: by p and then by q is by p + q.
"""

from __future__ import annotations

import torch
from torch import Tensor


def frequencies(dimensions: int, base: float) -> Tensor:
    """The angle that one position adds, for each pair of dimensions: float32 (dimensions / 2,)."""
    return base ** -(torch.arange(0, dimensions, 2, dtype=torch.float32) / dimensions)


def rescale_base(inverse: Tensor, factor: float | Tensor) -> Tensor:
    """The frequencies after the base is multiplied by `factor`.

    Since `(base * factor) ** (-2k / d)` is `base ** (-2k / d) * factor ** (-2k / d)`, the base
    itself need not be known.

    Args:
        inverse: Frequencies, float32 (d / 2,).
        factor: A number, or a tensor (B,) with one factor a sequence.

    Returns:
        Float32 (d / 2,), or (B, d / 2) for a tensor of factors.
    """
    pairs = inverse.shape[-1]
    exponents = torch.arange(pairs, dtype=torch.float32, device=inverse.device) / pairs
    factors = torch.as_tensor(factor, dtype=torch.float32, device=inverse.device)
    return inverse * factors[..., None] ** -exponents


def cos_sin(positions: Tensor, inverse: Tensor, gain: float = 1.0) -> tuple[Tensor, Tensor]:
    """Cos and sin of the angles at given positions.

    Args:
        positions: Any shape (...,), whole or fractional.
        inverse: Frequencies, float32 (d / 2,), or broadcastable to (..., d / 2).
        gain: What both are multiplied by (1 except for YaRN-like models).

    Returns:
        Two float32 tensors (..., d), each half repeated.
    """
    angles = positions[..., None].float() * inverse.float()
    both = torch.cat((angles, angles), dim=-1)
    return both.cos() * gain, both.sin() * gain


def rotate(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """States rotated by given angles, computed in float32.

    Args:
        states: (..., n, D). Dimensions past d, if any, stay as they are.
        cos: (n, d), or broadcastable to the states.
        sin: As `cos`.

    Returns:
        The shape and dtype of `states`.
    """
    rotary_dim = cos.shape[-1]
    part = states[..., :rotary_dim].float()
    first, second = part.chunk(2, dim=-1)
    rotated = part * cos + torch.cat((-second, first), dim=-1) * sin
    return torch.cat((rotated.to(states.dtype), states[..., rotary_dim:]), dim=-1)


def rotate_(states: Tensor, cos: Tensor, sin: Tensor) -> None:
    """Rotates states in place, computed in float32 or better: no copy where they are that already.

    Args:
        states: (..., D). Dimensions past 2 h, if any, stay as they are.
        cos: (..., h), one for each pair of dimensions, broadcastable to the states.
        sin: As `cos`.
    """
    part = states[..., : 2 * cos.shape[-1]]
    wide = part.to(torch.promote_types(part.dtype, torch.float32))
    first, second = wide.chunk(2, dim=-1)
    original = first.clone()
    first.mul_(cos).addcmul_(second, sin, value=-1)
    second.mul_(cos).addcmul_(original, sin)
    if wide is not part:
        part.copy_(wide)
