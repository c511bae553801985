"""What BERT's heads make of positions, given to a rotary student before any training.

Many heads of BERT attend by distance alone ("the token before this one": Clark et al., arXiv
1906.04341). With rotary positions such a preference is a kernel of the distance x = j - i,

    sum over pairs m of  a_m cos(theta_m x) + b_m sin(theta_m x),

and comes from the biases of queries and keys: pair m of both, as complex numbers u and v, adds
Re(conj(u) v exp(i theta_m x)) to the score. So for every head the kernel is found that brings its
attention nearest to the teacher's, given what the contents say: adding it to the scores makes a
log-linear model, whose Kullback-Leibler divergence from the teacher's attention is convex in
a and b (iteratively reweighted least squares; Newton steps here). The quickest pairs take it on,
and their weights shrink, so that contents disturb it less; in balanced coordinates (`rotary.py`)
these are the pairs of which contents make the least use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from rotary import student
from torch import Tensor

from indexing.models.minilm.rotary_minilm import BASE, HEADS, LAYERS
from indexing.models.minilm.variant import WINDOW
from indexing.nn.rope import frequencies

PAIRS = 6  # the quickest of the 16 of each head: wave lengths of up to 112 tokens
KEPT = 0.5  # what is left of the weights in these
_RIDGE = 1e-3
_ROUNDS = 6
_HALVINGS = 6


@dataclass(frozen=True, slots=True)
class Head:
    """Queries and keys of all heads of a layer, each two dimensions that turn together as one.

    Attributes:
        queries: Complex (B, HEADS, T, pairs).
        keys: The same.
    """

    queries: Tensor
    keys: Tensor

    def scores(self) -> Tensor:
        """Attention scores (B, HEADS, T, T), after rotation."""
        length, pairs = self.queries.shape[-2:]
        angles = torch.arange(length)[:, None] * frequencies(2 * pairs, BASE)
        turns = torch.polar(torch.ones_like(angles), angles)
        products = (self.queries * turns).conj() @ (self.keys * turns).mT
        return products.real / (2 * pairs) ** 0.5


@torch.inference_mode()
def position_means(original: Any, rows: Sequence[Tensor]) -> Tensor:  # noqa: ANN401
    """What each position adds to the mean state of a layer; nothing for the first, a special token.

    The rows are longer than the window, so that no end token is in it.
    """
    sums = torch.zeros(LAYERS, WINDOW, original.config.hidden_size)
    for ids in rows:
        states = original(ids, output_hidden_states=True).hidden_states[1:]
        sums += torch.stack([each[:, :WINDOW].mean(dim=0) for each in states])
    means = sums / len(rows)
    means -= means[:, 1:].mean(dim=1, keepdim=True)
    means[:, 0] = 0
    means[-1] = 0
    return means


@torch.no_grad()
def positioned(
    weights: Mapping[str, Tensor],
    original: Any,  # noqa: ANN401
    means: Tensor,
    rows: Tensor,
) -> dict[str, Tensor]:
    """The weights with kernels of the distance, layer by layer on the teacher's states.

    Args:
        weights: As `rebalanced` gives them.
        original: The teacher.
        means: (LAYERS, WINDOW, h), what positions add to the teacher's states.
        rows: Token rows (B, T) to fit on.
    """
    new = dict(weights)
    states = original(rows, output_hidden_states=True).hidden_states[:LAYERS]
    length = rows.shape[1]
    for layer in range(LAYERS):
        own = states[layer] - means[layer - 1][:length] if layer else _embedded(new, rows)
        wanted = teacher_scores(original, layer, states[layer]).softmax(dim=-1)
        _shrink(new, layer, own.mean(dim=(0, 1)))
        head = _head(new, layer, own)
        _realise(new, layer, head, fitted(wanted, head.scores()))
    return new


def fitted(wanted: Tensor, scores: Tensor) -> Tensor:
    """The kernel that brings softmax(scores + kernel) nearest to the wanted attention.

    Newton's method, each step halved until the divergence with its ridge falls.

    Args:
        wanted: (B, HEADS, T, T), rows that sum to 1.
        scores: (B, HEADS, T, T).

    Returns:
        (HEADS, 2 PAIRS): factors of the cosines, then of the sines.
    """
    waves = _waves(scores.shape[-1])
    found = torch.zeros(scores.shape[1], waves.shape[-1])
    value = _objective(wanted, scores, waves, found)
    for _ in range(_ROUNDS):
        step = _newton(wanted, scores, waves, found)
        share = torch.ones(len(found), 1)
        for _ in range(_HALVINGS):
            new = _objective(wanted, scores, waves, found + share * step)
            share = torch.where((new > value)[:, None], share / 2, share)
        new = _objective(wanted, scores, waves, found + share * step)
        better = new <= value
        found = torch.where(better[:, None], found + share * step, found)
        value = new.where(better, value)
    return found


def _waves(length: int) -> Tensor:
    """Cosines and sines of every distance, (T, T, 2 PAIRS)."""
    places = torch.arange(length)
    angles = (places[None] - places[:, None])[..., None] * _quickest()
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def _quickest() -> Tensor:
    return frequencies(384 // HEADS, BASE)[:PAIRS]


def _objective(wanted: Tensor, scores: Tensor, waves: Tensor, kernel: Tensor) -> Tensor:
    """Mean divergence of each head, up to a constant, and the ridge; (HEADS,)."""
    logs = (scores + torch.einsum("ijm,hm->hij", waves, kernel)).log_softmax(dim=-1)
    return _RIDGE * kernel.square().sum(-1) - (wanted * logs).sum(-1).mean(dim=(0, 2))


def _newton(wanted: Tensor, scores: Tensor, waves: Tensor, kernel: Tensor) -> Tensor:
    """(HEADS, 2 PAIRS): the gradient divided by the covariance of the waves under attention."""
    shares = (scores + torch.einsum("ijm,hm->hij", waves, kernel)).softmax(dim=-1)
    count = scores.shape[0] * scores.shape[2]
    ridge = (2 * _RIDGE + 1e-5) * torch.eye(waves.shape[-1])
    means = torch.einsum("bhij,ijm->bhim", shares, waves)
    squares = torch.einsum("hij,ijm,ijn->hmn", shares.sum(0), waves, waves)
    covariance = (squares - torch.einsum("bhim,bhin->hmn", means, means)) / count
    slope = torch.einsum("hij,ijm->hm", (wanted - shares).sum(0), waves) / count
    return torch.linalg.solve(covariance + ridge, slope - 2 * _RIDGE * kernel)


def _embedded(weights: Mapping[str, Tensor], rows: Tensor) -> Tensor:
    states: Tensor = student(weights).embeddings(rows)
    return states


def teacher_scores(original: Any, layer: int, states: Tensor) -> Tensor:  # noqa: ANN401
    """What the teacher's softmax is taken of, (B, HEADS, T, T)."""
    attention = original.encoder.layer[layer].attention.self
    query, key = (
        each(states).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for each in (attention.query, attention.key)
    )
    scores: Tensor = query @ key.mT / query.shape[-1] ** 0.5
    return scores


def _name(layer: int, kind: str) -> str:
    return f"layers.{layer}.self_attn.{kind}_proj"


def _head(weights: Mapping[str, Tensor], layer: int, states: Tensor) -> Head:
    """Queries and keys of a layer's input (B, T, h)."""
    both = []
    for kind in "qk":
        name = _name(layer, kind)
        flat = states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        first, second = flat.unflatten(-1, (HEADS, -1)).transpose(1, 2).chunk(2, dim=-1)
        both.append(torch.complex(first.contiguous(), second.contiguous()))
    return Head(*both)


def _shrink(weights: dict[str, Tensor], layer: int, mean: Tensor) -> None:
    """Weights of the quickest pairs become smaller; what the mean input gives stays as it is."""
    for kind in "qk":
        name = _name(layer, kind)
        matrix = weights[f"{name}.weight"].unflatten(0, (HEADS, 2, -1)).clone()
        bias = weights[f"{name}.bias"].unflatten(0, (HEADS, 2, -1)).clone()
        bias[:, :, :PAIRS] += (1 - KEPT) * (matrix[:, :, :PAIRS] @ mean)
        matrix[:, :, :PAIRS] *= KEPT
        weights[f"{name}.weight"], weights[f"{name}.bias"] = matrix.flatten(0, 2), bias.flatten()


def _realise(weights: dict[str, Tensor], layer: int, head: Head, kernel: Tensor) -> None:
    """Adds to the biases, so that mean query and mean key have the kernel as their product."""
    query, key = (each.mean(dim=(0, 2))[:, :PAIRS] for each in (head.queries, head.keys))
    cosines, sines = kernel.chunk(2, dim=-1)
    width = 2 * head.queries.shape[-1]
    product = query.conj() * key + width**0.5 * torch.complex(cosines, -sines)
    new_query = torch.polar(product.abs().sqrt(), query.angle())
    new_key = product / new_query.conj()
    for kind, change in (("q", new_query - query), ("k", new_key - key)):
        bias = weights[f"{_name(layer, kind)}.bias"].unflatten(0, (HEADS, 2, -1)).clone()
        bias[:, :, :PAIRS] += torch.view_as_real(change).transpose(1, 2)
        weights[f"{_name(layer, kind)}.bias"] = bias.flatten()
