"""A contextual (CoPE) encoder before any training: what can be done in closed form.

Gates begin without regard to the content, each head's open by `OPEN`: their keys have no weights,
and a bias on which the head's queries have a nearly constant product. So positions begin as counts
of tokens, and what to count is left to be learnt. Given these, the logits that positions add are
linear in the embeddings of a layer, and those are found that bring all its heads' attention nearest
to the teacher's (Newton's method on the Kullback-Leibler divergence, as in `position_kernels.py`).
Output layers follow by least squares (`reconstruction.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import position_kernels
import reconstruction
import torch
from texts import Texts
from torch import Tensor

from indexing.models.minilm.contextual_minilm import CONFIGURATION, CONTEXTUAL
from indexing.models.minilm.rotary_minilm import LAYERS
from indexing.models.minilm.variant import WINDOW
from indexing.nn.contextual_bert import ContextualBert, ContextualBertConfig
from indexing.nn.cope import ContextualAttention, gates, positions_around

OPEN = 2.0  # logit of a gate: 0.88
FITTED = 3  # rows of 256 tokens that embeddings are fitted on
MEASURED, SOLVED = 8, 24  # batches for mean states and for output layers, as for rotary positions
_RIDGE = 1e-5
_ROUNDS = 3
_HALVINGS = 5

Pairs = Sequence[tuple[Tensor, Tensor]]


def student(weights: Mapping[str, Tensor]) -> Any:  # noqa: ANN401
    """A contextual encoder with given weights; windows are one block, which takes less time."""
    model = ContextualBert(ContextualBertConfig(**CONFIGURATION))
    model.load_state_dict(dict(weights), strict=True)
    for layer in model.layers:
        layer.attention.block = WINDOW
    return model.eval()


def begun(original: Any) -> Any:  # noqa: ANN401
    """A student with the teacher's weights and no positions."""
    model = ContextualBert(ContextualBertConfig(**CONFIGURATION))
    return student(dict(model.state_dict()) | CONTEXTUAL.renamed(original.state_dict()))


def started(original: Any, texts: Texts, seed: int, *, quick: bool = False) -> Any:  # noqa: ANN401
    """A student as near to its teacher as it comes without gradients; a quick one less near."""
    new = begun(original).requires_grad_(requires_grad=False)
    measured, fitted, solved = (1, 1, 2) if quick else (MEASURED, FITTED, SOLVED)
    rows = [texts.windows(seed, number, 32, 264) for number in range(measured)]
    means = position_kernels.position_means(original, rows)
    position(new, original, means, texts.windows(seed, measured, fitted, WINDOW))
    batches = [texts.batch(seed + 1, number, 1024) for number in range(solved)]
    reconstruction.reconstruct(new, original, batches)
    return new


@torch.no_grad()
def position(model: Any, original: Any, means: Tensor, rows: Tensor) -> None:  # noqa: ANN401
    """Opens gates and fits embeddings, in place, layer by layer on the teacher's states."""
    states = original(rows, output_hidden_states=True).hidden_states[:LAYERS]
    length = rows.shape[1]
    for number, layer in enumerate(model.layers):
        own = states[number] - means[number - 1][:length] if number else model.embeddings(rows)
        wanted = position_kernels.teacher_scores(original, number, states[number]).softmax(dim=-1)
        attention = layer.attention
        query, key = (_heads(attention, each(own)) for each in (attention.query, attention.key))
        _open(attention, query)
        fit(attention, query, query @ key.mT / math.sqrt(query.shape[-1]), wanted, own)


def _heads(attention: ContextualAttention, states: Tensor) -> Tensor:
    """(B, n, h) to (B, heads, n, d)."""
    return states.unflatten(-1, (attention.heads, -1)).transpose(1, 2)


def _open(attention: ContextualAttention, query: Tensor) -> None:
    """Keys of gates without weights, and biases b with q . b / sqrt d near `OPEN` for all q."""
    flat = query.transpose(0, 1).flatten(1, 2)  # heads, tokens, d
    squares = flat.mT @ flat
    ridge = 1e-3 * squares.diagonal(0, -2, -1).mean(-1)[:, None, None] * torch.eye(flat.shape[-1])
    wanted = OPEN * math.sqrt(flat.shape[-1]) * flat.sum(dim=1)
    assert attention.gate_key is not None
    attention.gate_key.weight.zero_()
    attention.gate_key.bias.copy_(torch.linalg.solve(squares + ridge, wanted).flatten())


def fit(
    attention: ContextualAttention, query: Tensor, scores: Tensor, wanted: Tensor, states: Tensor
) -> None:
    """Newton's steps for the embeddings, each halved until the divergence falls.

    Args:
        attention: Its embeddings are set.
        query: (B, heads, n, d).
        scores: (B, heads, n, n), what the contents say.
        wanted: The teacher's attention, (B, heads, n, n).
        states: What goes into the layer, (B, n, h).
    """
    tables = attention.contextual
    assert tables.after is not None
    assert attention.gate_key is not None
    most, width = tables.before.shape
    opening = query @ _heads(attention, attention.gate_key(states)).mT / math.sqrt(width)
    counted = gates(opening, torch.ones((), dtype=torch.bool))
    places = positions_around(counted, 0, most)
    found = torch.zeros(2 * most, width)
    value = _objective(attention, query, counted, scores, wanted, found)
    for _ in range(_ROUNDS):
        step = _newton(attention, query, counted, places, scores, wanted, found)
        for halving in range(_HALVINGS):
            tried = found + step / 2**halving
            new = _objective(attention, query, counted, scores, wanted, tried)
            if new < value:
                found, value = tried, new
                break
        else:
            break
    _set(attention, found)


def _set(attention: ContextualAttention, found: Tensor) -> None:
    tables = attention.contextual
    assert tables.after is not None
    tables.before.data, tables.after.data = (part.clone() for part in found.chunk(2))


def _logits(
    attention: ContextualAttention, query: Tensor, counted: Tensor, scores: Tensor, found: Tensor
) -> Tensor:
    _set(attention, found)
    return scores + attention.contextual(query, counted) / math.sqrt(query.shape[-1])


def _objective(
    attention: ContextualAttention,
    query: Tensor,
    counted: Tensor,
    scores: Tensor,
    wanted: Tensor,
    found: Tensor,
) -> float:
    """Mean divergence, up to a constant, and the ridge."""
    logs = _logits(attention, query, counted, scores, found).log_softmax(dim=-1)
    return float(_RIDGE * found.square().sum() - (wanted * logs).sum(dim=-1).mean())


def _newton(
    attention: ContextualAttention,
    query: Tensor,
    counted: Tensor,
    places: Tensor,
    scores: Tensor,
    wanted: Tensor,
    found: Tensor,
) -> Tensor:
    """The gradient divided by the Fisher matrix of the embeddings, (2 n_pos, d)."""
    shares = _logits(attention, query, counted, scores, found).softmax(dim=-1)
    size, width = found.shape
    fisher, slope = torch.zeros(size * size, width * width), torch.zeros(size, width)
    rows = zip(
        *(each.flatten(0, 1) for each in (query / math.sqrt(width), places, shares, wanted)),
        strict=True,
    )
    for some, place, share, goal in rows:  # of one head and text
        mix = _mixture(place, size)
        mean = torch.einsum("ijp,ij->ip", mix, share)
        inner = (mix * share[..., None]).mT @ mix - mean[:, :, None] * mean[:, None, :]
        fisher += inner.flatten(1).T @ (some[:, :, None] * some[:, None, :]).flatten(1)
        slope += torch.einsum("ijp,ij->ip", mix, goal - share).T @ some
    count = query.shape[0] * query.shape[1] * query.shape[2]
    matrix = fisher.view(size, size, width, width).transpose(1, 2).reshape(size * width, -1)
    matrix = matrix / count + 2 * _RIDGE * torch.eye(size * width)
    target = (slope / count - 2 * _RIDGE * found).flatten()
    return torch.linalg.solve(matrix, target).view(size, width)


def _mixture(place: Tensor, size: int) -> Tensor:
    """How much of each embedding the position of each key is, (n, n, 2 n_pos)."""
    later = torch.ones_like(place, dtype=torch.bool).triu(1) * (size // 2)
    mix = torch.zeros(*place.shape, size)
    lower, share = place.floor(), place - place.floor()
    mix.scatter_add_(-1, (lower.long() + later)[..., None], (1 - share)[..., None])
    return mix.scatter_add_(-1, (place.ceil().long() + later)[..., None], share[..., None])
