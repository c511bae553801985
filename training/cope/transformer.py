"""A small causal transformer with absolute, rotary or contextual positions, and nothing else apart.

Layer norms before each block (Xiong et al., arXiv 2002.04745), two layers of width 64 with four
heads. The paper's have four layers of width 256.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from indexing.nn.cope import ContextualAttention
from indexing.nn.rope import cos_sin, frequencies, rotate
from training.cope.task import Task

Positions = Literal["absolute", "rope", "cope"]
POSITIONS: tuple[Positions, ...] = get_args(Positions)

WIDTH, HEADS, LAYERS, BASE = 64, 4, 2, 10_000.0


class Attention(nn.Module):
    """Causal self-attention, with rotary positions or none."""

    def __init__(self, *, rotary: bool) -> None:
        super().__init__()
        self.rotary = rotary
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, states: Tensor) -> Tensor:
        """(B, n, h) to (B, n, h)."""
        query, key = self._rotated(states)
        attended = scaled_dot_product_attention(
            query, key, _split(self.value(states)), is_causal=True
        )
        result: Tensor = self.out(attended.transpose(1, 2).flatten(2))
        return result

    def weights(self, states: Tensor) -> Tensor:
        """Which token attends to which, and how much: (B, heads, n, n)."""
        query, key = self._rotated(states)
        logits = query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        later = torch.ones_like(logits, dtype=torch.bool).triu(1)
        weights: Tensor = logits.masked_fill(later, float("-inf")).softmax(dim=-1)
        return weights

    def _rotated(self, states: Tensor) -> tuple[Tensor, Tensor]:
        query, key = _split(self.query(states)), _split(self.key(states))
        if self.rotary:
            at = torch.arange(states.shape[1], device=states.device)
            cos, sin = cos_sin(at, frequencies(WIDTH // HEADS, BASE))
            query, key = rotate(query, cos, sin), rotate(key, cos, sin)
        return query, key


def _split(states: Tensor) -> Tensor:
    """(B, n, h) to (B, heads, n, d)."""
    return states.reshape(*states.shape[:2], HEADS, -1).transpose(1, 2)


class Block(nn.Module):
    """Attention, then a feed-forward layer, each added to what went in."""

    def __init__(self, attention: Attention | ContextualAttention) -> None:
        super().__init__()
        self.attention = attention
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.feed = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, states: Tensor) -> Tensor:
        """(B, n, h) to (B, n, h)."""
        states = states + self.attention(self.before(states))
        result: Tensor = states + self.feed(self.between(states))
        return result


class Transformer(nn.Module):
    """A model for a task."""

    def __init__(self, task: Task, positions: Positions) -> None:
        super().__init__()
        self.tokens = nn.Embedding(task.vocabulary, WIDTH)
        self.places = nn.Embedding(task.longest, WIDTH) if positions == "absolute" else None
        self.blocks = nn.ModuleList(Block(_attention(task, positions)) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, task.vocabulary)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2 and "contextual" not in name:  # those start at zero
                nn.init.normal_(parameter, std=0.02 if name.endswith("tokens.weight") else 0.08)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, n, vocabulary) of what follows each token of (B, n)."""
        states = self._embedded(tokens)
        for block in self.blocks:
            states = block(states)
        logits: Tensor = self.head(self.norm(states))
        return logits

    @torch.no_grad()
    def maps(self, tokens: Tensor) -> Tensor:
        """Attention weights of every layer: (layers, B, heads, n, n)."""
        states, found = self._embedded(tokens), []
        for block in self.blocks:
            assert isinstance(block, Block)
            found.append(block.attention.weights(block.before(states)))
            states = block(states)
        return torch.stack(found)

    def _embedded(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.tokens(tokens)
        if self.places is not None:
            states = states + self.places.weight[: tokens.shape[1]]
        return states


def _attention(task: Task, positions: Positions) -> Attention | ContextualAttention:
    if positions == "cope":
        return ContextualAttention(WIDTH, HEADS, task.positions, block=task.longest)
    return Attention(rotary=positions == "rope")
