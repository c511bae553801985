"""Output layers of a student solved for, layer by layer, without gradients.

Given what a student's attention hands to its output layer, the matrix that brings the sum before
the layer norm nearest to the teacher's is a least-squares solution; so is the second matrix of a
feed-forward block. Going up the layers, each solution makes good for what the layers below get
wrong (reconstruction with accumulated error: He et al., arXiv 1707.06168, section 3.2, who repair
pruned networks so). The ridge draws towards the matrix that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

RIDGE = 0.1  # of the mean square of an input


@dataclass(frozen=True, slots=True)
class Parts:
    """What is solved in a layer of a student, and what runs before it.

    Attributes:
        attend: Runs the attention of a batch, whose output layer is `out`.
        out: Its norm follows the sum of its output with what went in.
        feed: What goes into `second`, from the states after attention.
    """

    attend: Callable[[Tensor], object]
    out: nn.Linear
    out_norm: nn.Module
    feed: Callable[[Tensor], Tensor]
    second: nn.Linear
    second_norm: nn.Module


def _rotary(layer: Any, model: Any) -> Parts:  # noqa: ANN401
    def attend(states: Tensor) -> object:
        places = torch.arange(states.shape[1])[None]
        return layer.self_attn(states, position_embeddings=model.rotary_emb(states, places))

    return Parts(
        attend,
        layer.self_attn.o_proj,
        layer.post_attention_layernorm,
        lambda states: layer.mlp.activation_fn(layer.mlp.fc1(states)),
        layer.mlp.fc2,
        layer.post_mlp_layernorm,
    )


def _contextual(layer: Any) -> Parts:  # noqa: ANN401
    output = layer.output
    return Parts(
        layer.attention,
        layer.attention.out,
        layer.attention_norm,
        layer.intermediate,
        output.dense,
        output.LayerNorm,
    )


@torch.no_grad()
def reconstruct(student: Any, teacher: Any, batches: Sequence[Tensor]) -> None:  # noqa: ANN401
    """Solves for the output layers of a student, in place.

    Args:
        student: A rotary or contextual encoder in float32.
        teacher: The packaged encoder in float32.
        batches: Token rows (B, T), some twenty thousand tokens.
    """
    attended, finished = _sums(teacher, batches)
    states = [student.embeddings(rows) for rows in batches]
    rotary = hasattr(student, "rotary_emb")
    for number, layer in enumerate(student.layers):
        parts = _rotary(layer, student) if rotary else _contextual(layer)
        inputs = _contexts(parts, states)
        _solve(parts.out, inputs, states, attended[number])
        states = _finished(parts.out, parts.out_norm, inputs, states)
        with torch.autocast("cpu", torch.bfloat16):
            inputs = [parts.feed(each) for each in states]
        _solve(parts.second, inputs, states, finished[number])
        states = _finished(parts.second, parts.second_norm, inputs, states)


def _sums(teacher: Any, batches: Sequence[Tensor]) -> tuple[list[list[Tensor]], list[list[Tensor]]]:  # noqa: ANN401
    """What goes into the layer norms after attention, and after the feed-forward blocks."""
    kinds: tuple[list[list[Tensor]], list[list[Tensor]]] = ([], [])
    held = []
    for layer in teacher.encoder.layer:
        for kind, owner in zip(kinds, (layer.attention.output, layer.output), strict=True):
            found: list[Tensor] = []
            kind.append(found)
            held.append(owner.LayerNorm.register_forward_pre_hook(_keeping(found)))
    with torch.autocast("cpu", torch.bfloat16):
        for rows in batches:
            teacher(rows)
    for each in held:
        each.remove()
    return kinds


def _keeping(found: list[Tensor]) -> Any:  # noqa: ANN401
    def keep(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        found.append(inputs[0].float())

    return keep


def _contexts(parts: Parts, states: list[Tensor]) -> list[Tensor]:
    """What attention hands to its output layer."""
    found: list[Tensor] = []
    held = parts.out.register_forward_pre_hook(_keeping(found))
    with torch.autocast("cpu", torch.bfloat16):
        for each in states:
            parts.attend(each)
    held.remove()
    return found


def _finished(
    layer: nn.Linear, norm: nn.Module, inputs: list[Tensor], states: list[Tensor]
) -> list[Tensor]:
    pairs = zip(states, inputs, strict=True)
    return [norm(state + layer(each.float())) for state, each in pairs]


def _solve(
    layer: nn.Linear, inputs: list[Tensor], states: list[Tensor], wanted: list[Tensor]
) -> None:
    """Weighted ridge regression of what the layer lacks, a token's weight by its layer norm."""
    size = layer.in_features + 1
    squares, products = torch.zeros(size, size), torch.zeros(size, layer.out_features)
    for each, state, other in zip(inputs, states, wanted, strict=True):
        given = each.float().flatten(0, 1)
        lacking = (other - state).flatten(0, 1) - layer(given)
        weight = 1 / other.flatten(0, 1).var(dim=-1, keepdim=True).clamp(min=1e-3)
        given = torch.cat((given, torch.ones(len(given), 1)), dim=1)
        squares += (weight * given).T @ given
        products += (weight * given).T @ lacking
    ridge = RIDGE * squares.diagonal()[:-1].mean()
    change = torch.linalg.solve(squares + ridge * torch.eye(size), products)
    layer.weight += change[:-1].T
    layer.bias += change[-1]
