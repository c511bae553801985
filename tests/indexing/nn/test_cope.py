"""Contextual positions against a naive loop over the paper's formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from indexing.nn.cope import ContextualAttention, ContextualPositions, interpolated

TOKENS, WIDTH = 9, 6


def _naive(queries: Tensor, keys: Tensor, table: Sequence[Tensor], *, causal: bool) -> Tensor:
    """Logits (n, n) of one head, -inf where a query does not see; gates from the same keys."""
    queries, keys, table = queries.detach(), keys.detach(), [rows.detach() for rows in table]
    n, d = queries.shape
    logits = torch.full((n, n), -math.inf, dtype=queries.dtype)
    for i in range(n):
        gate = [1 / (1 + math.exp(-float(queries[i] @ keys[t]) / math.sqrt(d))) for t in range(n)]
        for j in range(i + 1 if causal else n):
            rows = table[0] if j <= i else table[1]
            p = min(sum(gate[min(i, j) : max(i, j) + 1]), len(rows) - 1)
            low, high = math.floor(p), math.ceil(p)
            e = (p - low) * rows[high] + (1 - p + low) * rows[low]
            logits[i, j] = queries[i] @ (keys[j] + e) / math.sqrt(d)
    return logits


def _random(
    *, causal: bool, positions: int, own_keys: bool = False, block: int = 64
) -> ContextualAttention:
    torch.manual_seed(3)
    layer = ContextualAttention(
        2 * WIDTH, 2, positions, causal=causal, own_keys=own_keys, block=block
    ).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return layer


def _expected(layer: ContextualAttention, states: Tensor) -> Tensor:
    """The layer's output for one sequence, head by head, by the naive loop."""
    parts = [one(states).unflatten(-1, (2, WIDTH)) for one in (layer.query, layer.key, layer.value)]
    positions = layer.contextual
    tables = [positions.before] + ([] if positions.after is None else [positions.after])
    heads = []
    for head in range(2):
        query, key, value = (part[:, head] for part in parts)
        logits = _naive(query, key, tables, causal=layer.causal)
        heads.append(logits.softmax(dim=-1) @ value)
    return layer.out(torch.cat(heads, dim=-1))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("positions", [3, TOKENS + 1])
@pytest.mark.parametrize("block", [1, 4, 64])
def test_is_the_papers_formula(*, causal: bool, positions: int, block: int) -> None:
    layer = _random(causal=causal, positions=positions, block=block)
    states = torch.randn(3, TOKENS, 2 * WIDTH, dtype=torch.double)
    got = layer(states)
    for one, row in zip(states, got, strict=True):
        torch.testing.assert_close(row, _expected(layer, one))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("own_keys", [True, False])
def test_gradients_do_not_depend_on_blocks_and_are_right(*, causal: bool, own_keys: bool) -> None:
    states = torch.randn(1, TOKENS, 2 * WIDTH, dtype=torch.double)
    found = []
    for block in (2, 64):
        layer = _random(causal=causal, positions=4, own_keys=own_keys, block=block)
        layer(states).square().sum().backward()
        found.append([parameter.grad for parameter in layer.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)
    few = states[:, :4].clone().requires_grad_()
    assert torch.autograd.gradcheck(
        _random(causal=causal, positions=4, own_keys=own_keys), (few,), fast_mode=True
    )


def test_gates_have_keys_of_their_own() -> None:
    layer = _random(causal=True, positions=5, own_keys=True)
    states = torch.randn(1, TOKENS, 2 * WIDTH, dtype=torch.double)
    before = layer(states)
    assert layer.gate_key is not None
    torch.nn.init.normal_(layer.gate_key.weight)
    assert not torch.allclose(before, layer(states))
    layer.gate_key.load_state_dict(layer.key.state_dict())
    torch.testing.assert_close(layer(states)[0], _expected(layer, states[0]))


@pytest.mark.parametrize("causal", [True, False])
def test_padding_is_neither_seen_nor_counted(*, causal: bool) -> None:
    layer = _random(causal=causal, positions=4)
    states = torch.randn(2, TOKENS, 2 * WIDTH, dtype=torch.double)
    real = torch.ones(2, TOKENS, dtype=torch.bool)
    real[1, 6:] = False
    got = layer(states, real)
    torch.testing.assert_close(got[0], layer(states[:1])[0])
    torch.testing.assert_close(got[1, :6], layer(states[1:, :6])[0])


def test_open_gates_count_tokens() -> None:
    """With every gate at 1 a position is the distance plus one: ordinary relative positions."""
    positions = ContextualPositions(WIDTH, TOKENS + 1)
    torch.nn.init.normal_(positions.before)
    query = torch.randn(TOKENS, WIDTH)
    added = positions(query, torch.ones(TOKENS, TOKENS).tril())
    for i in range(TOKENS):
        for j in range(i + 1):
            torch.testing.assert_close(added[i, j], query[i] @ positions.before[i - j + 1])


def test_fractions_lie_between_and_far_positions_are_the_last() -> None:
    whole = torch.tensor([[0.0, 10.0, 40.0]])
    positions = torch.tensor([[0.0, 0.25, 1.0, 1.5, 2.0]])
    assert interpolated(whole, positions).tolist() == [[0.0, 2.5, 10.0, 25.0, 40.0]]
    layer = ContextualPositions(WIDTH, 3)
    torch.nn.init.normal_(layer.before)
    query = torch.randn(TOKENS, WIDTH)
    added = layer(query, torch.ones(TOKENS, TOKENS).tril())
    torch.testing.assert_close(added[8, 0], query[8] @ layer.before[2])


def test_nothing_is_added_at_the_start() -> None:
    layer = ContextualAttention(2 * WIDTH, 2, 4, causal=True)
    states = torch.randn(1, TOKENS, 2 * WIDTH)
    query, key, value = (
        one(states).unflatten(-1, (2, WIDTH)).transpose(1, 2)
        for one in (layer.query, layer.key, layer.value)
    )
    plain = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(layer(states), layer.out(plain.transpose(1, 2).flatten(2)))


def test_memory_grows_with_tokens_not_with_their_square() -> None:
    """What is kept for the gradients, counted in numbers."""

    def kept(tokens: int) -> int:
        layer = ContextualAttention(2 * WIDTH, 2, 8, causal=False, block=16)
        sizes = []

        def keep(tensor: Tensor) -> Tensor:
            sizes.append(tensor.untyped_storage().nbytes())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            layer(torch.randn(1, tokens, 2 * WIDTH))
        return max(sizes)

    assert kept(512) <= 4.5 * kept(128)


@pytest.mark.parametrize("causal", [True, False])
def test_counts_in_bfloat16_are_exact(*, causal: bool) -> None:
    """Beyond 256, bfloat16 has even numbers only; every second position would be another's."""
    tokens = 300
    layer = ContextualAttention(2 * WIDTH, 2, tokens + 1, causal=causal, own_keys=True)
    torch.nn.init.zeros_(layer.query.weight)
    torch.nn.init.ones_(layer.query.bias)
    torch.nn.init.zeros_(layer.key.weight)
    assert layer.gate_key is not None
    torch.nn.init.zeros_(layer.gate_key.weight)
    torch.nn.init.constant_(layer.gate_key.bias, 20)  # gates of 1
    table = layer.contextual.before
    table.data[280:281] = 40.0  # only the key 279 tokens back is read
    layer = layer.bfloat16()
    states = torch.randn(1, tokens, 2 * WIDTH).bfloat16()
    weights = layer.weights(states)[0, 0].float()
    assert int(weights[285].argmax()) == 285 - 279
    assert float(weights[285].detach().max()) > 0.9


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("openness", [20.0, 0.0, -2.0])
def test_far_keys_without_gates_are_no_approximation(*, causal: bool, openness: float) -> None:
    """Three positions over 60 tokens: gates are computed nearby, or, half shut, far and wide."""
    layer = _random(causal=causal, positions=3, own_keys=True, block=4)
    assert layer.gate_key is not None
    layer.query.bias.data.fill_(1.0)
    layer.gate_key.bias.data.fill_(openness)
    states = torch.randn(1, 60, 2 * WIDTH, dtype=torch.double)
    query, key, gate_key = (
        one(states).unflatten(-1, (2, WIDTH)).transpose(1, 2)
        for one in (layer.query, layer.key, layer.gate_key)
    )
    seen = torch.ones(60, 60, dtype=torch.bool)
    seen = seen.tril() if causal else seen
    counted = (query @ gate_key.mT / math.sqrt(WIDTH)).sigmoid() * seen
    logits = (query @ key.mT + layer.contextual(query, counted)) / math.sqrt(WIDTH)
    expected = logits.masked_fill(~seen, -math.inf).softmax(dim=-1)
    value = layer.value(states).unflatten(-1, (2, WIDTH)).transpose(1, 2)
    attended = layer.out((expected @ value).transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(states), attended)
