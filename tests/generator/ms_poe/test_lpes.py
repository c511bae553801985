"""LPES against linear interpolation, layer by layer; caches, padding, removal, refusals."""

from __future__ import annotations

import copy
import math
from itertools import pairwise
from typing import Any

import pytest
import torch
import transformers

from generator.lm.causal_lm import CausalModel
from generator.ms_poe.lpes import LPES, bezier
from generator.ms_poe.method import MsPoE
from generator.ms_poe.position_method import active_settings, cached_places, keep_rows
from indexing.errors import InvalidRequest, UnsupportedModel
from tests.generator.ms_poe_models import FAMILIES, build, tokens
from tests.generator.ms_poe_oracle import naive, naive_layers

SCALES = (0.8, 1.3, 2.0)
METHOD = LPES(scales=SCALES)


def scores(model: Any, ids: torch.Tensor, **more: Any) -> torch.Tensor:
    with torch.inference_mode():
        logits: torch.Tensor = model(input_ids=ids, **more).logits
    return logits


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-4)


@pytest.fixture(scope="module")
def llama() -> Any:
    return build("llama")


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_formula(family: str) -> None:
    model, ids = build(family), tokens(40)
    plain = scores(model, ids)
    with naive_layers(model, SCALES):
        wanted = scores(model, ids)
    with METHOD(model):
        close(scores(model, ids), wanted)
    assert (wanted - plain).abs().max() > 0.01


def test_one_scale_is_the_linear_interpolation_of_transformers() -> None:
    interpolated = build(
        "llama", rope_parameters={"rope_type": "linear", "rope_theta": 300.0, "factor": 1.6}
    )
    model, ids = build("llama"), tokens(40)
    assert all(
        torch.equal(one, other)
        for one, other in zip(model.parameters(), interpolated.parameters(), strict=True)
    )
    with LPES(scales=(1.6,) * 3)(model):
        close(scores(model, ids), scores(interpolated, ids))


def test_a_layer_has_the_linear_interpolation_of_transformers() -> None:
    """The attention layers of three models, each with a factor of its own, in one."""
    mixed, ids = build("llama"), tokens(40)
    for layer, factor in zip(mixed.model.layers, SCALES, strict=True):
        rope = {"rope_type": "linear", "rope_theta": 300.0, "factor": factor}
        rotary = build("llama", rope_parameters=rope).model.rotary_emb

        def replace(_: Any, args: Any, kwargs: Any, rotary: Any = rotary) -> Any:
            at = torch.arange(40)[None]
            return args, {**kwargs, "position_embeddings": rotary(kwargs["hidden_states"], at)}

        layer.self_attn.register_forward_pre_hook(replace, with_kwargs=True)
    model = build("llama")
    with METHOD(model):
        close(scores(model, ids), scores(mixed, ids))


@pytest.mark.parametrize("family", FAMILIES)
def test_scale_one_and_removal_are_exact(family: str) -> None:
    model, ids = build(family), tokens(30)
    plain, hooks = scores(model, ids), _hooks(model)
    with LPES(scales=(1.0,) * 3)(model):
        assert scores(model, ids).equal(plain)
    with pytest.raises(RuntimeError, match="in the middle"), METHOD(model):
        assert active_settings(model) == METHOD
        assert not scores(model, ids).equal(plain)
        raise RuntimeError("in the middle")
    assert scores(model, ids).equal(plain)
    assert _hooks(model) == hooks


@pytest.mark.parametrize("family", ["llama", "qwen3", "phi3-half", "gemma3", "smollm3", "yarn"])
def test_cached_decoding_equals_the_full_pass(family: str) -> None:
    model, ids = build(family), tokens(36)
    with naive_layers(model, SCALES):
        wanted = scores(model, ids)[:, 29:]
    with METHOD(model), torch.inference_mode():
        out = model(input_ids=ids[:, :30], use_cache=True)
        got = [out.logits[:, -1:]]
        for i in range(30, 36):
            out = model(input_ids=ids[:, i : i + 1], past_key_values=out.past_key_values)
            got.append(out.logits)
    close(torch.cat(got, dim=1), wanted)


@pytest.mark.parametrize("left", [True, False])
def test_padded_equals_unpadded(llama: Any, left: bool) -> None:
    rows = [tokens(n, seed=n)[0] for n in (11, 25, 17)]
    with naive_layers(llama, SCALES):
        alone = [scores(llama, row[None])[0, -1] for row in rows]
    ids = torch.ones(3, 25, dtype=torch.int64)
    mask = torch.zeros(3, 25, dtype=torch.int64)
    for number, row in enumerate(rows):
        at = slice(25 - len(row), 25) if left else slice(0, len(row))
        ids[number, at], mask[number, at] = row, 1
    with METHOD(llama):
        got = scores(llama, ids, attention_mask=mask)
    for number, row in enumerate(rows):
        close(got[number, -1 if left else len(row) - 1], alone[number])


def test_the_compiled_code_knows_it(model: CausalModel) -> None:
    """Tokens of the packaged model, in compiled code and by transformers."""
    if model.decode_step.compiled() is None:
        pytest.skip("no C compiler")
    prompt = model.chat.content("The harbour was closed on Tuesday because of the storm.")
    method = LPES.on_curve((1.0, 1.3, 0.9), len(model.model.model.layers))
    with method(model):
        compiled = model.decode_step.compiled()
        assert compiled is not None and compiled.is_unmodified()
        with torch.inference_mode():
            cache = model.model(input_ids=torch.tensor([prompt])).past_key_values
            again = copy.deepcopy(cache)
            token = torch.tensor([[prompt[3]]])
            wanted = model.model(input_ids=token, past_key_values=again).logits
            got = model.decode_step.logits(token, cache, None)
        assert got is not None
        torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-3)
    with torch.inference_mode():
        plain = model.model(input_ids=torch.tensor([[*prompt, prompt[3]]])).logits[:, -1:]
    assert (plain - wanted).abs().max() > 0.1


def test_a_cache_keeps_to_its_settings(llama: Any) -> None:
    ids = tokens(9)
    with torch.inference_mode():
        plain = llama(input_ids=ids).past_key_values
        with METHOD(llama):
            with pytest.raises(InvalidRequest, match="without rescaled"):
                llama(input_ids=ids[:, :1], past_key_values=plain)
            changed = llama(input_ids=ids).past_key_values
            rows = llama(input_ids=ids.expand(3, 9)).past_key_values
            keep_rows(rows, torch.tensor([2, 0]))
            llama(input_ids=ids[:, :1].expand(2, 1), past_key_values=rows)
        held = cached_places(changed)
        assert held is not None and held.settings == METHOD
        for other in (LPES(scales=(1.1, 1.0, 1.0)), MsPoE(order="uniform")):
            with other(llama), pytest.raises(InvalidRequest, match="other settings"):
                llama(input_ids=ids[:, :1], past_key_values=changed)


def test_refusals(llama: Any) -> None:
    for wrong in ((), (0.0, 1.0), (math.nan,), (math.inf,)):
        with pytest.raises(InvalidRequest, match="positive"):
            LPES(scales=wrong)
    with pytest.raises(InvalidRequest, match="2 scales are given for 3 layers"):
        LPES(scales=(1.0, 1.0))(llama).__enter__()
    with MsPoE(order="uniform")(llama), pytest.raises(InvalidRequest, match="already"):
        METHOD(llama).__enter__()
    with METHOD(llama), pytest.raises(InvalidRequest, match="already"):
        MsPoE(order="uniform")(llama).__enter__()
    gpt = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2))
    with pytest.raises(UnsupportedModel, match="learned vectors"):
        METHOD(gpt).__enter__()
    with pytest.raises(UnsupportedModel, match="LPES needs the inside"):
        METHOD(object()).__enter__()


def test_scales_on_a_curve() -> None:
    """Against de Casteljau's algorithm, which halves segments instead of summing polynomials."""
    points = (1.0, 1.4, 0.7, 1.2)
    for at in (0.0, 0.1, 0.5, 0.93, 1.0):
        heights = list(points)
        while len(heights) > 1:
            heights = [(1 - at) * one + at * other for one, other in pairwise(heights)]
        assert bezier(points, at) == pytest.approx(heights[0])
    scales = LPES.on_curve(points, 30).scales
    assert (len(scales), scales[0], scales[-1]) == (30, 1.0, 1.2)
    assert LPES.on_curve((1.0, 1.0, 1.0), 5).scales == (1.0,) * 5
    assert LPES.on_curve((1.3, 1.0), 1).scales == (1.3,)


def test_the_oracle_knows_the_model(llama: Any) -> None:
    with naive(llama, None, prompt=20):
        plain = scores(llama, tokens(20))
    with naive_layers(llama, (1.0, 1.0, 1.0)):
        close(scores(llama, tokens(20)), plain)


def _hooks(model: Any) -> list[tuple[int, int, list[str]]]:
    return [
        (len(module._forward_hooks), len(module._forward_pre_hooks), sorted(module.__dict__))
        for module in model.modules()
    ]
