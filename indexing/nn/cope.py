"""Contextual position encoding (CoPE): positions that count what the model finds worth counting.

Golovneva et al., arXiv 2405.18719, section 4. Of query i and key j, in one head of width d:

    gate       g_ij = sigmoid(q_i . k_j / sqrt d)
    position   p_ij = min(sum of g_it over t from j to i, n_pos - 1)
    embedding  e(p) = (p - floor p) E[ceil p] + (1 - p + floor p) E[floor p]
    logit      (q_i . k_j + q_i . e(p_ij)) / sqrt d

The sum holds both ends, so a position may be 0 and may be i - j + 1. The paper's equations leave
sqrt d out; the authors' code (facebookresearch/RAM, projects/cope) divides as above by default. E
(n_pos, d) starts at zero and is shared by the heads of a layer. The vectors e(p) are never formed:
q_i . E[n] is computed for every whole n, (n, n_pos) numbers, and those beside p_ij are looked up
and mixed.

A causal query sees only t <= i. The paper has no other form. The bidirectional one here counts the
same way to the right, sum of g_it over t from i to j, with embeddings of its own: what lies before
is told from what lies after. The token itself, j = i, counts as before.

Queries go block by block, and where there are several, blocks are computed again for their
gradients, so that memory grows with n x n_pos + block x n, not with n x n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

BLOCK = 128


def gates(logits: Tensor, seen: Tensor) -> Tensor:
    """How far each key counts: (..., n, m), 0 where the query does not see it.

    Args:
        logits: q_i . k_j / sqrt d, (..., n, m).
        seen: Whether query i sees key j; broadcastable to the logits.
    """
    return logits.sigmoid() * seen


def positions_before(counted: Tensor, first: int, most: int) -> Tensor:
    """Position of each key at or before its query, (..., n, m); 0 for those after it.

    Args:
        counted: Gates, (..., n, m).
        first: Which key stands where the first query stands.
        most: n_pos.
    """
    past = counted.tril(diagonal=first)
    return past.flip(-1).cumsum(dim=-1).flip(-1).clamp(max=most - 1)


def positions_after(counted: Tensor, first: int, most: int) -> Tensor:
    """Position of each key at or after its query, (..., n, m); 0 for those before it."""
    return counted.triu(diagonal=first).cumsum(dim=-1).clamp(max=most - 1)


def interpolated(whole: Tensor, positions: Tensor) -> Tensor:
    """What lies between the logits of whole positions.

    Args:
        whole: q_i . E[n] of every whole position, (..., n, n_pos).
        positions: (..., n, m), from 0 to n_pos - 1.

    Returns:
        (..., n, m), differentiable by both.
    """
    lower, upper = positions.floor(), positions.ceil()
    share = positions - lower
    return torch.lerp(whole.gather(-1, lower.long()), whole.gather(-1, upper.long()), share)


class ContextualPositions(nn.Module):
    """The position embeddings of a layer, and what they add to its attention logits.

    Args:
        width: d, of one head.
        positions: n_pos; positions beyond are all n_pos - 1.
        causal: Whether a token sees only what lies before it.
    """

    def __init__(self, width: int, positions: int, *, causal: bool = True) -> None:
        super().__init__()
        self.causal = causal
        self.before = nn.Parameter(torch.zeros(positions, width))
        self.after = None if causal else nn.Parameter(torch.zeros(positions, width))

    def forward(self, queries: Tensor, counted: Tensor, first: int = 0) -> Tensor:
        """q_i . e(p_ij), (..., n, m), not yet divided by sqrt d.

        Args:
            queries: (..., n, d).
            counted: Gates, (..., n, m).
            first: Which key stands where the first query stands.
        """
        most = len(self.before)
        added = interpolated(queries @ self.before.T, positions_before(counted, first, most))
        if self.after is None:
            return added
        later = interpolated(queries @ self.after.T, positions_after(counted, first, most))
        is_after = torch.ones_like(counted, dtype=torch.bool).triu(diagonal=first + 1)
        return later.where(is_after, added)


class ContextualAttention(nn.Module):
    """Multi-head self-attention with contextual positions, in place of any other attention.

    Args:
        width: Of the states; a multiple of the heads.
        heads: How many.
        positions: n_pos.
        causal: Whether a token sees only what lies before it.
        own_keys: Whether gates have a key projection of their own ("sep-keys" in the paper).
        block: Queries computed at once.
    """

    def __init__(  # noqa: PLR0913 - what makes a layer
        self,
        width: int,
        heads: int,
        positions: int,
        *,
        causal: bool = True,
        own_keys: bool = False,
        block: int = BLOCK,
    ) -> None:
        super().__init__()
        self.heads, self.causal, self.block = heads, causal, block
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.gate_key = nn.Linear(width, width) if own_keys else None
        self.contextual = ContextualPositions(width // heads, positions, causal=causal)

    def forward(self, states: Tensor, real: Tensor | None = None) -> Tensor:
        """Attended states (B, n, h).

        Args:
            states: (B, n, h).
            real: (B, n), False for padding, which is neither seen nor counted.
        """
        read = self._read(states, real)
        query = self._split(self.query(states))
        blocks = range(0, states.shape[1], self.block)
        parts = []
        for first in blocks:
            some = query[:, :, first : first + self.block]
            if len(blocks) == 1:
                parts.append(self._attend(some, read, first))
            else:
                parts.append(checkpoint(self._attend, some, read, first, use_reentrant=False))
        attended = torch.cat(parts, dim=2).transpose(1, 2).flatten(2)
        result: Tensor = self.out(attended)
        return result

    def weights(self, states: Tensor, real: Tensor | None = None) -> Tensor:
        """Which token attends to which, and how much: (B, heads, n, n), for pictures."""
        return self._weights(self._split(self.query(states)), self._read(states, real), 0)

    def _read(self, states: Tensor, real: Tensor | None) -> _Keys:
        key, value = (self._split(layer(states)) for layer in (self.key, self.value))
        gate_key = key if self.gate_key is None else self._split(self.gate_key(states))
        return _Keys(key, gate_key, value, real)

    def _split(self, states: Tensor) -> Tensor:
        """(B, n, h) to (B, heads, n, d)."""
        return states.reshape(*states.shape[:2], self.heads, -1).transpose(1, 2)

    def _attend(self, query: Tensor, read: _Keys, first: int) -> Tensor:
        """What a block of queries reads, (B, heads, size, d); the first is token `first`."""
        return self._weights(query, read, first) @ read.value

    def _weights(self, query: Tensor, read: _Keys, first: int) -> Tensor:
        """Of a block of queries, (B, heads, size, n)."""
        size, count = query.shape[2], read.key.shape[2]
        seen = torch.ones(size, count, dtype=torch.bool, device=query.device)
        if self.causal:
            seen = seen.tril(diagonal=first)
        if read.real is not None:
            seen = seen & read.real[:, None, None, :]
        root = math.sqrt(query.shape[-1])
        products = query @ read.key.transpose(-1, -2)
        own = read.gate_key is not read.key
        opening = query @ read.gate_key.transpose(-1, -2) if own else products
        counted = gates(opening / root, seen)
        logits = (products + self.contextual(query, counted, first)) / root
        weights: Tensor = logits.masked_fill(~seen, torch.finfo(logits.dtype).min).softmax(dim=-1)
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """What queries attend to: keys, keys of gates, values (B, heads, n, d), and no padding."""

    key: Tensor
    gate_key: Tensor
    value: Tensor
    real: Tensor | None
