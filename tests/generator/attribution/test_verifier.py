"""The verifier beside a naive forward pass of the same model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from generator.attribution.verifier import Verifier
from indexing.models.files import encoder_weights

SIZE = 384


def head(weight: torch.Tensor | None = None, bias: float = 0.0) -> dict[str, torch.Tensor]:
    """A logit alone; without a weight, the same for everything."""
    weight = torch.zeros(1, SIZE) if weight is None else weight
    return {"supported.weight": weight, "supported.bias": torch.tensor([bias])}


def test_probabilities_are_those_of_the_first_token() -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = encoder_weights().folder
    weight = torch.linspace(-1, 1, SIZE)[None]
    change = torch.full((SIZE, SIZE), 0.001)
    name = "encoder.layer.0.attention.self.query.weight"
    tensors = head(weight, 0.25) | {f"encoder.{name}": change}
    excerpts = ["Bob: It comes in May.", "A much longer excerpt, about the price of probes."]
    found = Verifier(tensors, dtype=torch.float32).probabilities("The probe is late.", excerpts)

    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model.get_parameter(name).data += change
    expected = []
    for excerpt in excerpts:
        inputs = tokenizer("The probe is late.", excerpt, return_tensors="pt")
        with torch.inference_mode():
            state = model(**inputs).last_hidden_state[0, 0]
        expected.append(float(torch.sigmoid(state @ weight[0] + 0.25)))
    assert found == pytest.approx(expected, abs=1e-4)
    assert expected[0] != pytest.approx(expected[1], abs=1e-3)


def test_long_texts_are_cut_and_nothing_is_nothing() -> None:
    verifier = Verifier(head(bias=2.0), dtype=torch.float32)
    assert verifier.probabilities("A sentence.", []).shape == (0,)
    long = verifier.probabilities("word " * 900, ["other " * 900, ""])
    assert np.allclose(long, 1 / (1 + np.exp(-2.0)), atol=1e-6)
