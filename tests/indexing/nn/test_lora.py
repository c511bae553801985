"""Adapters: nothing at first, W + scale * B A after training, and merged just the same."""

from __future__ import annotations

import torch
from torch import nn

from indexing.nn.lora import add_lora, merge_lora


def test_a_merged_adapter_computes_what_the_trained_one_did() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    plain = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    plain.load_state_dict(model.state_dict())
    states = torch.randn(2, 4, 6, dtype=torch.float64)
    before = model(states)
    parameters = add_lora(model, ["0", "2"], rank=2, scale=3.0)
    assert torch.equal(model(states), before)  # b is 0
    assert {each for each in model.parameters() if each.requires_grad} == set()
    assert sorted(parameters) == ["0.a", "0.b", "2.a", "2.b"]
    model(states).sum().backward()
    assert all(parameters[f"{name}.b"].grad is not None for name in "02")
    with torch.no_grad():
        for each in parameters.values():
            each.normal_()
    adapters = {
        name: (3.0 if name.endswith("a") else 1.0) * each.detach()
        for name, each in parameters.items()
    }
    merge_lora(plain, adapters)
    assert torch.allclose(plain(states), model(states), atol=1e-5)
