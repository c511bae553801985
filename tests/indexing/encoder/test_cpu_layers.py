"""The quickest way that there is, and where there is none, the next one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    LlamaConfig,
    LlamaModel,
    ModernBertConfig,
    ModernBertModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)
from transformers.activations import GELUActivation

from indexing.encoder import compiled_bert
from indexing.encoder.cpu_layers import CpuLayers, packed
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.kernels.library import Unavailable
from indexing.models.files import encoder_weights
from tests.compilers import compiler_script

needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available() or not torch.ops.mkldnn._is_mkldnn_bf16_supported(),
    reason="this PyTorch has no oneDNN, or this processor no bfloat16 in it",
)


def of(extension: str = "pcw") -> CpuLayers:
    settings = EncoderSettings(extension=extension, dtype="bfloat16", max_length=256)
    return Encoder(settings).layers


def test_compiled_where_there_is_such_code() -> None:
    try:
        compiled_bert._library()
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert of() == of("none") == CpuLayers(compiled=6, packed=0)


@needs_onednn
def test_without_a_compiler_layers_are_packed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", compiler_script(tmp_path / "broken", "exit 1"))
    compiled_bert._library.cache_clear()
    try:
        assert of() == CpuLayers(compiled=0, packed=37)
    finally:
        compiled_bert._library.cache_clear()


@needs_onednn
def test_other_extensions_change_layers_so_these_are_packed() -> None:
    assert of("rp") == CpuLayers(compiled=0, packed=37)


SIZES = {
    "vocab_size": 200,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 128,
}

# Configuration, model, its linear layers, and how many of them take their GELU along.
FAMILIES = {
    "bert": (BertConfig(**SIZES), BertModel, 13, 2),
    "bert, tanh": (BertConfig(**SIZES, hidden_act="gelu_new"), BertModel, 13, 0),
    "roberta": (RobertaConfig(**SIZES, pad_token_id=1), RobertaModel, 13, 2),
    "mpnet": (MPNetConfig(**SIZES), MPNetModel, 13, 2),
    "modernbert": (ModernBertConfig(**SIZES, pad_token_id=0), ModernBertModel, 8, 0),
    "llama": (LlamaConfig(**SIZES), LlamaModel, 14, 0),
}


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformer:
    return SentenceTransformer(str(encoder_weights().folder), device="cpu").eval()


@pytest.fixture
def family(request: pytest.FixtureRequest) -> Iterator[tuple[nn.Module, int, int]]:
    config, kind, layers, joined = FAMILIES[request.param]
    torch.manual_seed(1)
    yield kind(config).eval(), layers, joined


def states(model: nn.Module) -> torch.Tensor:
    """Of three texts of forty tokens."""
    ids = torch.randint(3, 200, (3, 40), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        result: torch.Tensor = model(input_ids=ids).last_hidden_state.float()
    return result


def unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def joined_layers(model: nn.Module) -> int:
    return sum("intermediate_act_fn" in module.__dict__ for module in model.modules())


@needs_onednn
@pytest.mark.parametrize("family", FAMILIES, indirect=True)
def test_no_further_from_float32_than_the_layers_themselves(
    family: tuple[nn.Module, int, int],
) -> None:
    model, layers, joined = family
    exact = states(model)
    half = copy.deepcopy(model).bfloat16()
    before = states(half)
    with packed(half, rows=120) as count:
        after = states(half)
        assert (count, joined_layers(half)) == (layers, joined)
    assert (after - exact).norm() <= 1.1 * (before - exact).norm()
    assert torch.equal(states(half), before)
    assert not any("forward" in module.__dict__ for module in half.modules())
    assert joined_layers(half) == 0


@needs_onednn
def test_the_packaged_encoder(minilm: SentenceTransformer) -> None:
    half = copy.deepcopy(minilm).bfloat16()
    texts = ["The launch moves to Monday the eleventh of May.", "budget " * 100]
    exact, before = unit(minilm.encode(texts)), unit(half.encode(texts))
    with packed(half, rows=512) as count:
        after = unit(half.encode(texts))
        assert (count, joined_layers(half)) == (37, 6)
    assert (exact * after).sum(axis=1).min() > 0.9995
    assert (before * after).sum(axis=1).min() > 0.9995


@needs_onednn
@pytest.mark.parametrize("rows", [1, 7, 300])
def test_any_number_of_rows(rows: int) -> None:
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(70, 50, bias=rows != 7).bfloat16())
    x = torch.randn(rows, 70).bfloat16()
    with torch.inference_mode():
        expected = layer(x)
        with packed(layer, rows=64) as count:
            assert count == 1
            torch.testing.assert_close(layer(x), expected, rtol=0.01, atol=0.01)


class Half(nn.Module):
    """Looks like the feed-forward half of BERT."""

    def __init__(self, function: nn.Module, factor: int) -> None:
        super().__init__()
        self.dense = nn.Linear(32, 32)
        self.intermediate_act_fn = function
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.intermediate_act_fn(self.factor * self.dense(x))
        return result


@needs_onednn
@pytest.mark.parametrize(
    ("function", "factor"), [(GELUActivation(), 2), (nn.GELU("tanh"), 1), (nn.ReLU(), 1)]
)
def test_another_activation_or_that_of_something_else_stays(
    function: nn.Module, factor: int
) -> None:
    torch.manual_seed(0)
    model = Half(function, factor).bfloat16()
    x = torch.randn(5, 32).bfloat16()
    with torch.inference_mode():
        expected = model(x)
        with packed(model, rows=5) as count:
            assert (count, joined_layers(model)) == (1, 0)
            torch.testing.assert_close(model(x), expected, rtol=0.01, atol=0.01)


def test_float32_stays_as_it_is(minilm: SentenceTransformer) -> None:
    with packed(minilm, rows=64) as count:
        assert count == 0


@pytest.mark.filterwarnings("ignore:TF32")
def test_nothing_is_packed_without_onednn() -> None:
    layer = nn.Sequential(nn.Linear(8, 8).bfloat16())
    with torch.backends.mkldnn.flags(enabled=False), packed(layer, rows=4) as count:
        assert count == 0 and "forward" not in layer[0].__dict__


@needs_onednn
def test_hooks_see_packed_layers() -> None:
    """The methods of context extension hook the projections."""
    layer = nn.Sequential(nn.Linear(8, 8).bfloat16())
    x = torch.randn(2, 8).bfloat16()
    with torch.inference_mode(), packed(layer, rows=2):
        plain = layer(x)
        handle = layer[0].register_forward_hook(lambda module, args, output: output * 2)
        assert torch.equal(layer(x), 2 * plain)
        handle.remove()
