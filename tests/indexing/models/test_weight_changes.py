"""Changes of weights: added by row, and found again to a 254th of their largest."""

from __future__ import annotations

import torch
from torch import nn

from indexing.models.weight_changes import add_changes, changes, merge_lora


def test_changes_are_added_by_row() -> None:
    layer = torch.nn.Linear(3, 2)
    before, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
    rows = torch.tensor([[127, 0, -127], [1, 2, 3]], dtype=torch.int8)
    scale = torch.tensor([0.5, 2.0])
    add_changes(
        layer,
        {"encoder.weight.rows": rows, "encoder.weight.scale": scale, "encoder.bias": torch.ones(2)},
    )
    expected = before + torch.tensor([[63.5, 0, -63.5], [2, 4, 6]])
    assert torch.allclose(layer.weight, expected) and torch.allclose(layer.bias, bias + 1)


def test_what_is_written_gives_the_tuned_weights_again() -> None:
    packaged, tuned = torch.nn.Linear(40, 8), torch.nn.Linear(40, 8)
    before = {f"encoder.{name}": each.detach() for name, each in packaged.named_parameters()}
    after = {f"encoder.{name}": each.detach() for name, each in tuned.named_parameters()}
    head = torch.arange(3.0)
    tensors = changes(after | {"head.bias": head}, before)
    assert tensors["encoder.weight.rows"].dtype is torch.int8
    assert torch.equal(tensors["head.bias"], head)
    largest = (tuned.weight - packaged.weight).abs().amax(1, keepdim=True)
    add_changes(packaged, tensors)
    assert ((packaged.weight - tuned.weight).abs() <= largest / 253).all()
    assert torch.allclose(packaged.bias, tuned.bias, atol=1e-6)


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
