"""Threads that load models at the same time, as the first requests to a server do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoModelForCausalLM, BertConfig, BertModel, LlamaConfig
from transformers.modeling_utils import PreTrainedModel

from indexing.models.loading import loading

SMALL = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": 64,
}
TIMES = 2


def test_each_model_is_whole_and_nothing_stays_changed(tmp_path: Path) -> None:
    """One in float32, the other in bfloat16 with weights that are tied, three threads each."""
    BertModel(BertConfig(**SMALL)).save_pretrained(tmp_path / "bert")
    tied = LlamaConfig(**SMALL, tie_word_embeddings=True)
    AutoModelForCausalLM.from_config(tied).save_pretrained(tmp_path / "llama")
    tie_weights = PreTrainedModel.tie_weights

    def load(number: int) -> tuple[Any, torch.dtype, torch.dtype]:
        kind, name, dtype = (
            (AutoModelForCausalLM, "llama", torch.bfloat16)
            if number % 2
            else (AutoModel, "bert", torch.float32)
        )
        with loading():
            model = kind.from_pretrained(tmp_path / name, dtype=dtype, local_files_only=True)
            return model, dtype, torch.nn.Linear(2, 2).weight.dtype

    with ThreadPoolExecutor(6) as threads:
        loaded = list(threads.map(load, range(6 * TIMES)))
    for model, dtype, of_new in loaded:
        assert {each.dtype for each in model.parameters()} == {dtype}
        assert not any(each.is_meta for each in model.parameters())
        assert of_new == torch.float32
    assert torch.get_default_dtype() == torch.float32
    assert PreTrainedModel.tie_weights is tie_weights
