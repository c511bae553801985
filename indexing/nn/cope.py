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
gradients, so that memory grows with n x n_pos + block x n, not with n x n. Positions only grow with
the distance: where all of a block have come to the last one, keys further away need no gates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

BLOCK = 32


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


def positions_around(counted: Tensor, first: int, most: int) -> Tensor:
    """Position of each key, (..., n, m): counted back to it, or on to it where it comes later.

    Both are differences of one running sum.
    """
    total = counted.cumsum(dim=-1)
    here, own = (each.diagonal(first, -2, -1).unsqueeze(-1) for each in (total, counted))
    found = torch.where(_later(counted, first), total - here + own, here - total + counted)
    return found.clamp(min=0, max=most - 1)


def _later(counted: Tensor, first: int) -> Tensor:
    """Which keys come after their query, (n, m)."""
    every = torch.ones(counted.shape[-2:], dtype=torch.bool, device=counted.device)
    return every.triu(diagonal=first + 1)


def interpolated(whole: Tensor, positions: Tensor, shift: Tensor | int = 0) -> Tensor:
    """What lies between the logits of whole positions.

    Args:
        whole: q_i . E[n] of every whole position, (..., n, n_pos).
        positions: (..., n, m), from 0 to n_pos - 1.
        shift: Where in `whole` the table of a key begins, if there are several; (n, m).

    Returns:
        (..., n, m), differentiable by both.
    """
    lower, upper = positions.floor(), positions.ceil()
    share = positions - lower
    return torch.lerp(
        whole.gather(-1, lower.long() + shift), whole.gather(-1, upper.long() + shift), share
    )


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
        return self.between(self.whole(queries, counted.dtype), self.places(counted, first), first)

    def whole(self, queries: Tensor, dtype: torch.dtype) -> Tensor:
        """q_i . E[n] of every whole position, (..., n, n_pos); both tables side by side, if two."""
        table = self.before if self.after is None else torch.cat((self.before, self.after))
        return (queries @ table.T).to(dtype)

    def places(self, counted: Tensor, first: int) -> Tensor:
        """p_ij, (..., n, m), of gates."""
        positions = positions_before if self.after is None else positions_around
        return positions(counted, first, len(self.before))

    def between(self, whole: Tensor, places: Tensor, first: int) -> Tensor:
        """q_i . e(p_ij), (..., n, m), of what `whole` and `places` give."""
        if self.after is None:
            return interpolated(whole, places)
        return interpolated(whole, places, len(self.before) * _later(places, first))


class ContextualAttention(nn.Module):
    """Multi-head self-attention with contextual positions, in place of any other attention."""

    def __init__(  # noqa: PLR0913 - what makes a layer
        self,
        width: int,  # of the states; a multiple of the heads
        heads: int,  # how many
        positions: int,  # n_pos
        *,
        causal: bool = True,  # whether a token sees only what lies before it
        # whether gates have a key projection of their own ("sep-keys" in the paper)
        own_keys: bool = False,
        block: int = BLOCK,  # queries computed at once
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
        products = _exact(query @ read.key.transpose(-1, -2))
        logits = (products + self._added(query, read, seen, first)) / math.sqrt(query.shape[-1])
        if self.causal or read.real is not None:
            logits = logits.masked_fill(~seen, torch.finfo(logits.dtype).min)
        weights: Tensor = logits.softmax(dim=-1)
        return weights.to(read.value.dtype)

    def _added(self, query: Tensor, read: _Keys, seen: Tensor, first: int) -> Tensor:
        """What positions add, (B, heads, size, n): looked up near the block, the last ones beyond.

        Near is what it takes until every position of the block is the last one.
        """
        size, count, most = query.shape[2], read.key.shape[2], len(self.contextual.before)
        reach, root = 2 * most, math.sqrt(query.shape[-1])
        while True:
            low, high = max(0, first - reach), min(count, first + size + reach)
            opening = _exact(query @ read.gate_key[:, :, low:high].transpose(-1, -2))
            places = self.contextual.places(gates(opening / root, seen[..., low:high]), first - low)
            far = [places[..., at] for at, open_ in ((0, low > 0), (-1, high < count)) if open_]
            if self.causal:
                far = far[: int(low > 0)]
            if all(bool((each >= most - 1).all()) for each in far):
                break
            reach *= 2
        whole = self.contextual.whole(query, places.dtype)
        near = self.contextual.between(whole, places, first - low)
        before, after = whole[..., most - 1 : most], whole[..., -1:]
        sides = (before.expand(*near.shape[:-1], low), after.expand(*near.shape[:-1], count - high))
        return torch.cat((sides[0], near, sides[1]), dim=-1)


def _exact(products: Tensor) -> Tensor:
    """In float32 at least: a count of tokens has more digits than bfloat16."""
    return products.to(torch.promote_types(products.dtype, torch.float32))


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """What queries attend to: keys, keys of gates, values (B, heads, n, d), and no padding."""

    key: Tensor
    gate_key: Tensor
    value: Tensor
    real: Tensor | None
