"""Single tokens in compiled code: the scores and tokens of transformers' own model."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from generator.decoding.mixture import advance, prefill
from generator.kernels.library import BF16
from generator.lm import decode_step as steps
from generator.lm.caches.prefix_cache import PrefixCache, crop
from generator.lm.causal_lm import CausalModel
from generator.lm.compiled_llama import CompiledLlama, interleave
from generator.lm.decode_step import DecodeStep, compiled_steps
from generator.lm.sampling import Sampling
from generator.ms_poe.method import MsPoE
from generator.ms_poe.position_method import keep_rows
from indexing.models.formats.quantization import Quantized, save
from tests.compilers import with_compiler
from tests.generator.ms_poe_models import build, tokens

KINDS = ["llama", "llama-mha", "llama-one", "llama3", "yarn", "mistral", "qwen2"]


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Any:
    """A model of one kind, whose heads are as wide as the compiled code needs."""
    return build(getattr(request, "param", "llama"), hidden_size=64)


def causal(model: nn.Module) -> CausalModel:
    """The loop of a CausalModel around a model without a tokenizer."""
    bare = CausalModel.__new__(CausalModel)
    bare.model, bare.device, bare.eos_token_ids = model, torch.device("cpu"), frozenset()
    bare.prefixes = PrefixCache()
    return bare


@pytest.fixture
def track(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The rows of each step that compiled code took."""
    rows: list[int] = []
    own = CompiledLlama.step

    def step(self: CompiledLlama, ids: torch.Tensor, *more: Any) -> torch.Tensor:
        rows.append(len(ids))
        return own(self, ids, *more)

    monkeypatch.setattr(CompiledLlama, "step", step)
    yield rows


@with_compiler
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        *((kind, None) for kind in KINDS),
        ("llama", MsPoE(first_layer=1)),
        ("llama", MsPoE(first_layer=1, order="calibrated", places=((0, 1), (1, 0), (1, 0)))),
        ("qwen2", MsPoE(order="uniform", first_layer=0, last_layer=1)),
    ],
    indirect=["model"],
)
def test_tokens_are_those_of_generate(model: Any, settings: MsPoE | None, track: list[int]) -> None:
    prompt, follow_up = tokens(40), tokens(9, seed=2)

    def generated(ids: torch.Tensor) -> list[int]:
        found = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False,
            eos_token_id=None,
        )  # fmt: skip
        return found[0, ids.shape[1] :].tolist()

    with ExitStack() as stack:
        if settings:
            stack.enter_context(settings(model))
        second = torch.cat([prompt[:, :30], follow_up], dim=1)
        wanted = [generated(prompt), generated(second)]
        stack.enter_context(compiled_steps(model))
        track.clear()
        one = causal(model)
        told = [
            [*one.tokens(ids[0].tolist(), sampling=Sampling(), limit=12)]
            for ids in (prompt, prompt, second)
        ]
    assert told[0] == told[1] == wanted[0]
    if settings is None or settings.order != "prompt":  # else a cache keeps its first order
        assert told[2] == wanted[1]
    assert len(track) >= 33


@with_compiler
@pytest.mark.parametrize("settings", [None, MsPoE(first_layer=0)])
def test_padded_rows_and_dropped_rows(model: Any, settings: MsPoE | None, track: list[int]) -> None:
    """The loop of rag-token, with more rows than are read at once."""
    lengths = [24, 5, 17, 24, 1, 12]
    prompts = [tokens(n, seed=i)[0].tolist() for i, n in enumerate(lengths)]
    nexts = [tokens(6, seed=20 + i)[0] for i in range(3)]

    def scores() -> list[torch.Tensor]:
        batch = prefill(model, prompts)
        found = []
        for given in nexts[:2]:
            batch = advance(model, batch, given)
            found.append(batch.log_probs)
        kept = torch.tensor([1, 2, 5])
        keep_rows(batch.cache, kept)
        batch.mask = batch.mask[kept]
        return [*found, advance(model, batch, nexts[2][kept]).log_probs]

    with ExitStack() as stack:
        if settings:
            stack.enter_context(settings(model))
        wanted = scores()
        stack.enter_context(compiled_steps(model))
        found = scores()
    assert track[-3:] == [6, 6, 3]
    for one, other in zip(wanted, found, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-4)


@with_compiler
def test_a_few_tokens_at_once_after_a_cut(model: Any, track: list[int]) -> None:
    ids, more = tokens(30), tokens(3, seed=4)
    with torch.inference_mode():
        wanted = model(input_ids=torch.cat([ids[:, :11], more], dim=1)).logits[:, -3:]
    with compiled_steps(model):
        _, cache = steps.forward(model, ids, None)
        _, cache = steps.forward(model, more[:, :1], cache)
        crop(cache, 11)
        found, cache = steps.forward(model, more, cache, last=False)
        last, _ = steps.forward(model, more, cache)
    assert track[-3:] == [1, 1, 1] and last.shape == (1, 1, 99)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


# ---- bfloat16 and levels ----


def quantized(out: int, width: int, *, bits: int) -> Quantized:
    """A random matrix as GGUF stores it: Q4_1 of 4 bits, Q8_0 of 8."""
    torch.manual_seed(out + width + bits)
    codes = torch.randint(0, 256, (out, width * bits // 8), dtype=torch.uint8)
    step = torch.rand(out, width // 32) * (0.02 if bits == 4 else 2e-3) + 1e-4
    offset = -torch.rand(out, width // 32) * 0.2 if bits == 4 else -128 * step
    return Quantized(bits, codes, torch.stack((step, offset), dim=-1))


def few_bits(folder: Path) -> tuple[LlamaForCausalLM, LlamaForCausalLM]:
    """A model whose layers have 4 bits and whose head has 8, in float32 and in bfloat16."""
    config = LlamaConfig(
        vocab_size=96,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM(config).eval()
    matrices = {
        f"{name}.weight": quantized(*layer.weight.shape, bits=8 if name == "lm_head" else 4)
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear)
    }
    for name, matrix in matrices.items():
        model.get_parameter(name).data = matrix.dequantize()
    save(matrices, folder)
    return model, copy.deepcopy(model).bfloat16()


@with_compiler
def test_nearer_to_the_file_than_bfloat16(tmp_path: Path) -> None:
    """Against the weights before they were rounded to bfloat16, computed in float32."""
    exact, half = few_bits(tmp_path)
    ids, more = tokens(20, rows=3), tokens(4, rows=3, seed=3)

    def scores(model: nn.Module) -> torch.Tensor:
        _, cache = steps.forward(model, ids % 96, None)
        return torch.cat(
            [steps.forward(model, each[:, None] % 96, cache)[0] for each in more.unbind(1)], dim=1
        ).float()

    with torch.inference_mode():
        wanted, plain = scores(exact), scores(half)
        with compiled_steps(half, tmp_path) as held:
            found = scores(half)
        again = scores(half)
    assert held.engine() == "compiled, 22 of 22 matrices quantized"
    assert (found - wanted).norm() < 0.8 * (plain - wanted).norm()
    assert torch.equal(again, plain)


@with_compiler
def test_float32_of_a_file_in_bfloat16_is_read_as_that(track: list[int], tmp_path: Path) -> None:
    _, half = few_bits(tmp_path)
    model: Any = half.float()
    ids = tokens(21) % 96
    with compiled_steps(model, tmp_path) as held:
        _, cache = steps.forward(model, ids[:, :-1], None)
        found, _ = steps.forward(model, ids[:, -1:], cache)
        compiled = held.compiled()
    assert compiled is not None and compiled.quantized == 0 and track[-1] == 1
    matrix = compiled.struct.layer[1].up
    assert matrix.dtype == BF16
    with torch.inference_mode():
        whole = model(input_ids=ids).logits[:, -1:]
    torch.testing.assert_close(found, whole, rtol=1e-4, atol=1e-4)


@with_compiler
def test_weights_that_are_not_those_of_the_file_are_read(tmp_path: Path) -> None:
    _, half = few_bits(tmp_path)
    half.model.layers[0].mlp.up_proj.weight.data *= 1.5
    with compiled_steps(half, tmp_path) as held:
        assert held.engine() == "compiled, 21 of 22 matrices quantized"
    with compiled_steps(half) as held:
        assert held.engine() == "compiled, 0 of 22 matrices quantized"


@pytest.mark.parametrize("bits", [4, 8])
def test_interleaved_codes_are_those_of_the_matrix(bits: int) -> None:
    matrix = quantized(48, 96, bits=bits)
    words, scales = interleave(matrix)
    shifts = torch.arange(32 // bits) * bits
    codes = (words[..., None] >> shifts) & ((1 << bits) - 1)
    codes = codes.permute(0, 2, 1, 3).reshape(-1, 16, 96 // 32, 32)
    factor, term = scales.permute(2, 0, 3, 1)[..., None]
    unpacked = ((1 + codes / 2**bits) * factor + term).flatten(2).flatten(0, 1)
    torch.testing.assert_close(unpacked, matrix.dequantize(), rtol=1e-4, atol=1e-5)


# ---- what is left to the model ----


@pytest.mark.parametrize("name", ["gemma", "phi3", "qwen3", "mistral-sliding", "qwen2-mixed"])
def test_other_kinds_are_read_by_the_model(name: str) -> None:
    model = build(name)
    with compiled_steps(model) as held:
        assert held.compiled() is None and held.engine().startswith("transformers (")
        _, cache = steps.forward(model, tokens(12), None)
        scores, _ = steps.forward(model, tokens(1, seed=1), cache)
    both = torch.cat([tokens(12), tokens(1, seed=1)], dim=1)
    with torch.inference_mode():
        torch.testing.assert_close(scores, model(input_ids=both).logits[:, -1:])


@with_compiler
def test_wrong_scores_are_noticed(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model.config, "rms_norm_eps", 0.5)
    with compiled_steps(model) as held:
        assert "compiled code is off by" in held.engine()


@with_compiler
@pytest.mark.parametrize("part", ["activation", "projection", "heads"])
def test_other_parts_are_left_to_the_model(part: str) -> None:
    heads: dict[str, Any] = {"head_dim": 8} if part == "heads" else {}
    model = build("llama", hidden_size=64, **heads)
    if part == "activation":
        model.config.hidden_act = "gelu"
    elif part == "projection":
        model.model.layers[1].mlp.up_proj.__class__ = type("Adapted", (nn.Linear,), {})
    with compiled_steps(model) as held:
        assert held.engine() == "transformers (its layers have other parts than known ones)"


@with_compiler
def test_models_that_others_changed_are_read_by_themselves(model: Any, track: list[int]) -> None:
    with compiled_steps(model):
        _, cache = steps.forward(model, tokens(8), None)
        steps.forward(model, tokens(1), cache)
        track.clear()
        handle = model.model.layers[0].mlp.register_forward_hook(lambda *_: None)
        steps.forward(model, tokens(1), cache)
        assert not track
        handle.remove()
        steps.forward(model, tokens(1), cache)
        assert track == [1]


@with_compiler
def test_a_copy_of_a_model_steps_by_itself(model: Any) -> None:
    with compiled_steps(model) as held:
        held.compiled()
        other = copy.deepcopy(model)
    mark = other._rag_app_decode_step
    assert isinstance(mark, DecodeStep) and mark.model is other and mark.compiled() is not None
