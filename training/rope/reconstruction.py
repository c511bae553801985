"""Output layers of a student solved for, layer by layer, without gradients.

Given what a student's attention hands to its output layer, the matrix that brings the sum before
the layer norm nearest to the teacher's is a least-squares solution; so is the second matrix of a
feed-forward block. Going up the layers, each solution makes good for what the layers below get
wrong (reconstruction with accumulated error: He et al., arXiv 1707.06168, section 3.2, who repair
pruned networks so). The ridge draws towards the matrix that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

RIDGE = 0.1  # of the mean square of an input


@torch.no_grad()
def reconstruct(student: Any, teacher: Any, batches: Sequence[Tensor]) -> None:  # noqa: ANN401
    """Solves for the output layers of a student, in place.

    Args:
        student: A rotary encoder in float32.
        teacher: The packaged encoder in float32.
        batches: Token rows (B, T), some twenty thousand tokens.
    """
    attended, finished = _sums(teacher, batches)
    states = [student.embeddings(rows) for rows in batches]
    places = [torch.arange(rows.shape[1])[None] for rows in batches]
    waves = [student.rotary_emb(each, at) for each, at in zip(states, places, strict=True)]
    for number, layer in enumerate(student.layers):
        inputs = _contexts(layer.self_attn, states, waves)
        _solve(layer.self_attn.o_proj, inputs, states, attended[number])
        states = _finished(layer.self_attn.o_proj, layer.post_attention_layernorm, inputs, states)
        with torch.autocast("cpu", torch.bfloat16):
            inputs = [layer.mlp.activation_fn(layer.mlp.fc1(each)) for each in states]
        _solve(layer.mlp.fc2, inputs, states, finished[number])
        states = _finished(layer.mlp.fc2, layer.post_mlp_layernorm, inputs, states)


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


def _contexts(attention: Any, states: list[Tensor], waves: list[Any]) -> list[Tensor]:  # noqa: ANN401
    """What attention hands to its output layer."""
    found: list[Tensor] = []
    held = attention.o_proj.register_forward_pre_hook(_keeping(found))
    with torch.autocast("cpu", torch.bfloat16):
        for each, wave in zip(states, waves, strict=True):
            attention(each, position_embeddings=wave)
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
