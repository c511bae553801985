"""Compiled layers: as near to float32 as PyTorch's own in bfloat16, and no trace of them after."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

from indexing.encoder import compiled_bert as module
from indexing.encoder.compiled_bert import compiled_bert
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.files import document
from indexing.kernels.library import Unavailable
from indexing.text.chunking import split

SIZES = {
    "vocab_size": 200,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 416,  # more than is summed up in one piece
    "max_position_embeddings": 600,
}


def _here() -> bool:
    try:
        return module._library() is not None
    except Unavailable:
        return False


with_amx = pytest.mark.skipif(not _here(), reason="no AMX here, or no C compiler")


def bert(**changes: Any) -> nn.Module:
    """A model of two layers, sharp enough that its attention matters, in bfloat16."""
    torch.manual_seed(1)
    model = BertModel(BertConfig(**{**SIZES, **changes})).eval()
    for layer in model.encoder.layer:
        for part in (layer.attention.self.query, layer.attention.self.key):
            part.weight.data *= 12
    return model.bfloat16()


def states(model: nn.Module, lengths: list[int], width: int = 0) -> Tensor:
    """(texts, width, hidden) float32 of texts of so many tokens, padded to the longest or more."""
    generator = torch.Generator().manual_seed(2)
    ids = torch.randint(3, 200, (len(lengths), max(width, *lengths, 1)), generator=generator)
    mask = torch.arange(ids.shape[1]) < torch.tensor(lengths)[:, None]
    with torch.inference_mode():
        result: Tensor = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    return result.float()


def error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


@with_amx
@pytest.mark.parametrize("heads", [2, 1])
@pytest.mark.parametrize(
    "lengths", [[1], [2, 2], [16, 16, 16], [33, 33], [40, 7, 1], [300, 211], [512], [5] * 60]
)
def test_no_further_from_float32_than_the_model_itself(lengths: list[int], heads: int) -> None:
    model = bert(num_attention_heads=heads)
    exact, before = states(copy.deepcopy(model).float(), lengths), states(model, lengths)
    with compiled_bert(model) as count:
        after = states(model, lengths)
    assert count == 2 and not torch.equal(after, before)
    assert error(after, exact) <= 1.1 * error(before, exact)
    assert torch.equal(states(model, lengths), before)
    assert not any("forward" in part.__dict__ for part in model.modules())


@with_amx
def test_company_padding_and_threads_change_no_bit() -> None:
    model = bert()
    lengths = [90, 31, 90, 64, 90]
    with compiled_bert(model):
        together = states(model, lengths)
        wider = states(model, lengths[:1], width=90)
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(2)
            assert torch.equal(states(model, lengths), together)
        finally:
            torch.set_num_threads(threads)
    assert torch.equal(wider[0], together[0])


@with_amx
def test_what_it_does_not_know_is_left_to_the_model() -> None:
    model = bert()
    ids = torch.arange(3, 15).view(1, 12)
    causal = torch.ones(12, 12, dtype=torch.bool).tril()[None, None]
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=causal).last_hidden_state
        plain = model(input_ids=ids).last_hidden_state
        with compiled_bert(model):
            assert torch.equal(model(input_ids=ids, attention_mask=causal)[0], expected)
            assert not torch.equal(model(input_ids=ids)[0], plain)
            query: Any = model.get_submodule("encoder.layer.1.attention.self.query")
            handle = query.register_forward_hook(lambda *_: None)
            assert torch.equal(model(input_ids=ids)[0], plain)
            handle.remove()
            assert not torch.equal(model(input_ids=ids)[0], plain)
    with compiled_bert(model):
        model(input_ids=ids)[0].sum().backward()
    assert query.weight.grad is not None


@with_amx
def test_other_models_stay_as_they_are() -> None:
    others = [
        bert().float(),
        bert(hidden_act="gelu_new"),
        bert(num_attention_heads=4),  # heads of sixteen dimensions
        bert(intermediate_size=100),
        RobertaModel(RobertaConfig(**SIZES, pad_token_id=1)).eval().bfloat16(),
        nn.Linear(4, 4),
    ]
    for model in others:
        with compiled_bert(model) as count:
            assert count == 0 and not any("forward" in part.__dict__ for part in model.modules())


@with_amx
def test_code_that_is_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    model, right = bert(), module.CompiledLayers._linear

    def swapped(self: module.CompiledLayers, *parts: nn.Linear) -> module.Linear:
        return right(self, *reversed(parts))

    monkeypatch.setattr(module.CompiledLayers, "_linear", swapped)
    with compiled_bert(model) as count:
        assert count == 0


@with_amx
def test_documents_and_queries_of_the_packaged_encoder() -> None:
    one = document("The launch moves to Monday the eleventh of May. " * 70, name="text")
    pairs = [(one, split(one))]
    encoder, exact = (Encoder(EncoderSettings(dtype=name)) for name in ("bfloat16", "float32"))
    assert (encoder.layers.compiled, encoder.layers.packed, exact.layers.compiled) == (6, 0, 0)
    found, wanted = encoder.encode(pairs)[0], exact.encode(pairs)[0]
    assert found.vector @ wanted.vector > 0.9998
    assert np.einsum("pd,pd->p", found.passages, wanted.passages).min() > 0.9995
    texts = ["When is the launch?", "budget", "Who moved it, and why to May of all months?"]
    cosines = np.einsum("qd,qd->q", *(each.encode_queries(texts) for each in (encoder, exact)))
    assert cosines.min() > 0.999
