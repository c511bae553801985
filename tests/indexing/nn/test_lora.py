"""Adapters: each is added to the weight of its layer, and to no other."""

from __future__ import annotations

import torch
from torch import nn

from indexing.models.weight_changes import merge_lora


def test_a_merged_layer_computes_with_the_sum_of_its_weight_and_its_adapter() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    first, last = model[0], model[2]
    assert isinstance(first, nn.Linear) and isinstance(last, nn.Linear)
    a, b = torch.randn(2, 6), torch.randn(5, 2)
    states = torch.randn(2, 4, 6)
    inner = states @ first.weight.T + (states @ a.T) @ b.T + first.bias
    wanted = torch.tanh(inner) @ last.weight.T + last.bias
    merge_lora(model, {"0.a": a, "0.b": b})
    assert torch.allclose(model(states), wanted, atol=1e-5)
