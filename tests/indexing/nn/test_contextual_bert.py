"""BERT with contextual positions: BERT where these add nothing, and loaded as any other model."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoModel, BertConfig, BertModel

from indexing.models.minilm.contextual_minilm import CONTEXTUAL
from indexing.nn.contextual_bert import ContextualBert, ContextualBertConfig, register

SIZES = {
    "vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
    "intermediate_size": 32,
}  # fmt: skip


def _random() -> ContextualBert:
    torch.manual_seed(5)
    model = ContextualBert(ContextualBertConfig(**SIZES, contextual_positions=6)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def test_without_positions_it_is_bert() -> None:
    torch.manual_seed(4)
    bert = BertModel(BertConfig(**SIZES, max_position_embeddings=300)).eval()
    bert.embeddings.position_embeddings.weight.data[:] = torch.randn(24)  # the same everywhere
    model = ContextualBert(ContextualBertConfig(**SIZES)).eval()
    found = model.load_state_dict(CONTEXTUAL.renamed(bert.state_dict()), strict=False)
    assert {name.split(".", 3)[-1].split(".")[0] for name in found.missing_keys} == {
        "contextual",
        "gate_key",
    }
    assert not found.unexpected_keys
    ids, real = torch.randint(1, 50, (2, 9)), torch.ones(2, 9, dtype=torch.long)
    real[1, 6:] = 0
    with torch.inference_mode():
        expected = bert(ids, real, output_hidden_states=True).hidden_states
        got = model(ids, real, output_hidden_states=True).hidden_states
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one[0], other[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(one[1, :6], other[1, :6], atol=1e-5, rtol=1e-5)


def test_order_matters_and_company_does_not() -> None:
    model, ids = _random(), torch.randint(1, 50, (2, 9))
    real = torch.ones(2, 9, dtype=torch.long)
    real[1, 6:] = 0
    with torch.inference_mode():
        got = model(ids, real).last_hidden_state
        alone = model(ids[1:, :6]).last_hidden_state[0]
        turned = model(ids[1:, :6].flip(1)).last_hidden_state[0].flip(0)
    torch.testing.assert_close(got[1, :6], alone)
    assert (turned - alone).abs().max() > 1e-3  # without positions, 1e-6


def test_a_folder_loads_as_any_other(tmp_path: Path) -> None:
    register()
    register()
    model, ids = _random(), torch.randint(1, 50, (1, 7))
    model.save_pretrained(tmp_path)
    again = AutoModel.from_pretrained(tmp_path, local_files_only=True).eval()
    assert type(again) is ContextualBert
    assert again.config.contextual_positions == 6
    with torch.inference_mode():
        torch.testing.assert_close(again(ids).last_hidden_state, model(ids).last_hidden_state)
