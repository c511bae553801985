"""Ms-PoE against the paper's formulas, head by head; caches, padding, removal, refusals."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers

from generator.ms_poe.architectures import LAYOUTS, REFUSED
from generator.ms_poe.method import MsPoE, measure_places
from generator.ms_poe.position_awareness import awareness, last_seen, ranks, ratios
from generator.ms_poe.position_method import cached_places, keep_rows
from indexing.errors import InvalidRequest, UnsupportedModel
from tests.generator.ms_poe_models import FAMILIES, build, tokens
from tests.generator.ms_poe_oracle import naive

PLACES = ((1.0, 0.0), (0.2, 0.8), (0.9, 0.1))
SETTINGS = {
    "prompt": MsPoE(first_layer=1),
    "calibrated": MsPoE(first_layer=0, order="calibrated", places=PLACES),
    "uniform": MsPoE(r_min=1.1, r_max=1.5, first_layer=1, order="uniform"),
}


def scores(model: Any, ids: torch.Tensor, **more: Any) -> torch.Tensor:
    with torch.inference_mode():
        return model(input_ids=ids, **more).logits


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-4)


@pytest.fixture(scope="module")
def llama() -> Any:
    return build("llama")


def test_every_known_architecture_is_tested() -> None:
    assert {kind for kind, _, _ in FAMILIES.values()} == set(LAYOUTS)


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_formulas(family: str) -> None:
    model, ids = build(family), tokens(40)
    with naive(model, None, prompt=40):
        plain = scores(model, ids)
    close(scores(model, ids), plain)  # the oracle knows the family
    with naive(model, SETTINGS["prompt"], prompt=40) as decided:
        wanted = scores(model, ids)
    assert decided
    with SETTINGS["prompt"](model):
        got = scores(model, ids)
    close(got, wanted)
    assert (wanted - plain).abs().max() > 0.01


@pytest.mark.parametrize("order", SETTINGS)
@pytest.mark.parametrize("family", ["llama", "qwen3", "phi3-half", "gemma3"])
def test_cached_decoding_equals_the_full_pass(family: str, order: str) -> None:
    model, ids, settings = build(family), tokens(36), SETTINGS[order]
    with naive(model, settings, prompt=30):
        wanted = scores(model, ids)[:, 29:]
    with settings(model), torch.inference_mode():
        out = model(input_ids=ids[:, :30], use_cache=True)
        got = [out.logits[:, -1:]]
        for i in range(30, 36):
            out = model(input_ids=ids[:, i : i + 1], past_key_values=out.past_key_values)
            got.append(out.logits)
    close(torch.cat(got, dim=1), wanted)


@pytest.mark.parametrize(
    ("family", "attention"),
    [
        ("llama", "eager"),
        ("llama", "sdpa"),
        ("mistral-sliding", "sdpa"),
        ("mistral-sliding", "eager"),
        ("gemma2", "eager"),
        ("phi3", "sdpa"),
    ],
)
def test_padded_equals_unpadded(family: str, attention: str) -> None:
    model = build(family, attention=attention)
    settings = SETTINGS["prompt"]
    rows = [tokens(n, seed=n)[0] for n in (11, 25, 17)]
    alone = []
    for row in rows:
        with naive(model, settings, prompt=len(row)):
            alone.append(scores(model, row[None])[0, -1])
    for left in (True, False):
        ids = torch.ones(3, 25, dtype=torch.int64)
        mask = torch.zeros(3, 25, dtype=torch.int64)
        for number, row in enumerate(rows):
            at = slice(25 - len(row), 25) if left else slice(0, len(row))
            ids[number, at], mask[number, at] = row, 1
        with settings(model):
            got = scores(model, ids, attention_mask=mask)
        ends = [-1] * 3 if left else [len(row) - 1 for row in rows]
        for number, end in enumerate(ends):
            close(got[number, end], alone[number])


def test_generate_equals_formulas_for_a_padded_batch(llama: Any) -> None:
    rows = [tokens(n, seed=n)[0] for n in (14, 20)]
    ids, mask = torch.ones(2, 20, dtype=torch.int64), torch.zeros(2, 20, dtype=torch.int64)
    for number, row in enumerate(rows):
        ids[number, 20 - len(row) :], mask[number, 20 - len(row) :] = row, 1
    with SETTINGS["prompt"](llama):
        got = llama.generate(ids, attention_mask=mask, max_new_tokens=6, do_sample=False)[:, 20:]
    for number, row in enumerate(rows):
        written = row
        for _ in range(6):
            with naive(llama, SETTINGS["prompt"], prompt=len(row)):
                best = scores(llama, written[None])[0, -1].argmax()
            written = torch.cat((written, best[None]))
            if best == 2:
                break
        wanted = written[len(row) :]
        assert got[number, : len(wanted)].tolist() == wanted.tolist()


@pytest.mark.parametrize("family", ["llama", "qwen3", "phi3", "gemma3"])
def test_ratio_one_and_removal_are_exact(family: str) -> None:
    model, ids = build(family), tokens(30)
    plain, state = scores(model, ids), copy.deepcopy(_hooks(model))
    for settings in SETTINGS.values():
        one = replace(settings, r_min=1, r_max=1, first_layer=0)
        with one(model):
            assert scores(model, ids).equal(plain)
        with pytest.raises(RuntimeError, match="in the middle"), settings(model):
            assert not scores(model, ids).equal(plain)
            raise RuntimeError("in the middle")
        assert scores(model, ids).equal(plain)
    assert _hooks(model) == state


def test_conversations_take_turns(llama: Any) -> None:
    """Two caches with other ratios, and a copy of one."""
    prompts = [tokens(24, seed=3), tokens(24, seed=5)]
    more, settings = tokens(4, seed=8), SETTINGS["prompt"]
    wanted = []
    for prompt in prompts:
        with naive(llama, settings, prompt=24) as decided:
            wanted.append((scores(llama, torch.cat((prompt, more), dim=1))[:, 24:], decided))
    assert wanted[0][1] != wanted[1][1]
    with torch.inference_mode():
        with settings(llama):
            caches = [llama(input_ids=prompt).past_key_values for prompt in prompts]
        branch = copy.deepcopy(caches[0])
        with settings(llama):
            for i in range(4):
                for cache, (expected, _) in zip(
                    [*caches, branch], [*wanted, wanted[0]], strict=True
                ):
                    out = llama(input_ids=more[:, i : i + 1], past_key_values=cache)
                    close(out.logits[:, 0], expected[:, i])


def test_a_static_order_may_come_in_pieces(llama: Any) -> None:
    ids, settings = tokens(30), SETTINGS["calibrated"]
    with settings(llama), torch.inference_mode():
        whole = llama(input_ids=ids).logits
        cache = llama(input_ids=ids[:, :13]).past_key_values
        close(llama(input_ids=ids[:, 13:], past_key_values=cache).logits, whole[:, 13:])
        cache.crop(-17)
        close(llama(input_ids=ids[:, 13:], past_key_values=cache).logits, whole[:, 13:])


def test_a_cache_keeps_to_its_settings(llama: Any) -> None:
    ids = tokens(9)
    with torch.inference_mode():
        plain = llama(input_ids=ids).past_key_values
        with SETTINGS["prompt"](llama):
            with pytest.raises(InvalidRequest, match="without rescaled"):
                llama(input_ids=ids[:, :1], past_key_values=plain)
            changed = llama(input_ids=ids).past_key_values
            emptied = llama(input_ids=ids).past_key_values
        assert cached_places(changed) is not None
        with SETTINGS["uniform"](llama):
            with pytest.raises(InvalidRequest, match="other settings"):
                llama(input_ids=ids[:, :1], past_key_values=changed)
            emptied.reset()
            llama(input_ids=ids, past_key_values=emptied)


def test_rows_are_taken_out_with_their_ratios(llama: Any) -> None:
    ids, more = tokens(24, rows=3, seed=4), tokens(1, seed=9)
    rows = torch.tensor([2, 0])
    with SETTINGS["prompt"](llama), torch.inference_mode():
        whole = llama(input_ids=ids).past_key_values
        fewer = copy.deepcopy(whole)
        keep_rows(fewer, rows)
        wanted = llama(input_ids=more.expand(3, 1), past_key_values=whole).logits[rows]
        close(llama(input_ids=more.expand(2, 1), past_key_values=fewer).logits, wanted)
        fewer.batch_select_indices(torch.tensor([0, 1, 1]))
        with pytest.raises(InvalidRequest, match="keep_rows"):
            llama(input_ids=more.expand(3, 1), past_key_values=fewer)


def test_last_layer_is_the_last(llama: Any) -> None:
    ids, settings = tokens(30), MsPoE(first_layer=0, last_layer=1)
    with naive(llama, settings, prompt=30) as decided:
        wanted = scores(llama, ids)
    assert set(decided) == {0, 1}
    with settings(llama):
        close(scores(llama, ids), wanted)


def test_bfloat16_turns_in_float32() -> None:
    model, ids = build("llama"), tokens(40)
    settings = SETTINGS["calibrated"]
    with settings(model):
        wanted = scores(model, ids)
    model = model.to(torch.bfloat16)
    plain = scores(model, ids).float()
    with settings(model):
        got = scores(model, ids)
    assert got.dtype == torch.bfloat16
    assert (got.float() - wanted).abs().mean() < 0.2 * (plain - wanted).abs().mean()


def test_usual_places_are_the_mean_over_prompts(llama: Any) -> None:
    prompts = [tokens(n, seed=n)[0].tolist() for n in (20, 26, 31)]
    total = torch.zeros(3, 2)
    for prompt in prompts:
        with naive(
            llama, MsPoE(first_layer=0, r_min=1, r_max=1 + 1e-12), prompt=len(prompt)
        ) as got:
            scores(llama, torch.tensor([prompt]))
        for layer, found in got.items():
            total[layer] += torch.tensor(found, dtype=torch.float64).argsort(stable=True).argsort()
    wanted = [[round(place, 4) for place in row] for row in (total / 3).tolist()]
    assert [list(row) for row in measure_places(llama, prompts)] == wanted


def test_threshold_ranks_and_ratios() -> None:
    logits = torch.tensor([[[0.0, 0, 0, 5, 9], [1, 1, 1, 1, 0]]])
    seen = torch.tensor([[True, True, True, True, False]])
    assert awareness(logits, seen).tolist() == [[1, 0]]
    assert ranks(torch.tensor([0.1, 0.5, 0.1, 0.7])).tolist() == [2, 1, 3, 0]
    assert ratios(1.2, 1.8, 4) == pytest.approx((1.2, 1.4, 1.6, 1.8))
    assert ratios(1.2, 1.8, 1) == (1.5,)


def test_what_the_last_token_sees() -> None:
    flat = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
    last, seen = last_seen(flat, 2, 5, None)
    assert last.tolist() == [4, 2]
    assert seen.int().tolist() == flat.tolist()
    causal = flat[:, None, None].bool() & torch.ones(5, 5).tril().bool()
    for mask in (causal, torch.where(causal, 0.0, torch.finfo(torch.float32).min)):
        last, seen = last_seen(mask, 2, 5, 2)
        assert last.tolist() == [4, 2]
        assert seen.int().tolist() == [[0, 0, 0, 1, 1], [0, 1, 1, 0, 0]]
    last, seen = last_seen(None, 3, 4, None)
    assert (last.tolist(), seen.all().item(), seen.shape) == ([3, 3, 3], True, (3, 4))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("CohereConfig", "neighbouring pairs"),
        ("DeepseekV3Config", "compressed"),
        ("GPT2Config", "learned vectors"),
        ("FalconConfig", "not among those"),
    ],
)
def test_other_architectures_are_refused_by_name(config: str, reason: str) -> None:
    made = getattr(transformers, config)()
    model = type("Other", (), {"config": made, "get_decoder": None})()
    made._attn_implementation = "sdpa"
    with pytest.raises(UnsupportedModel, match=f"{made.model_type}.*{reason}"), MsPoE()(model):
        pass
    assert not set(REFUSED) & set(LAYOUTS)


def test_hazards_of_known_architectures_are_refused(llama: Any) -> None:
    dynamic = {"rope_type": "dynamic", "rope_theta": 300.0, "factor": 2.0}
    with pytest.raises(UnsupportedModel, match="dynamic NTK"):
        MsPoE()(build("llama", rope_parameters=dynamic)).__enter__()
    with pytest.raises(UnsupportedModel, match="other parts"):
        MsPoE()(build("phi", qk_layernorm=True)).__enter__()
    with pytest.raises(UnsupportedModel, match="flex"):
        MsPoE()(build("llama", attention="flex_attention")).__enter__()
    with pytest.raises(UnsupportedModel, match="no layer"):
        MsPoE()(build("smollm3", no_rope_layers=[0, 0, 0])).__enter__()
    with SETTINGS["uniform"](llama), pytest.raises(InvalidRequest, match="already"):
        SETTINGS["prompt"](llama).__enter__()


def test_settings_that_cannot_be() -> None:
    for wrong in (
        {"r_min": 0},
        {"r_max": float("nan")},
        {"order": "random"},
        {"order": "calibrated"},
        {"places": PLACES},
    ):
        with pytest.raises(InvalidRequest):
            MsPoE(**wrong)


def test_settings_that_do_not_fit_a_model(llama: Any) -> None:
    with pytest.raises(InvalidRequest, match="no rotary layer"):
        MsPoE(first_layer=3)(llama).__enter__()
    with pytest.raises(InvalidRequest, match="3 rows of 2"):
        MsPoE(order="calibrated", places=((0.0, 1.0),))(llama).__enter__()


def test_the_self_test_finds_a_model_that_turns_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Cohere model that passed for a Llama: neighbouring pairs, so halves are wrong."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 99, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    config = transformers.CohereConfig(
        **sizes, num_attention_heads=4, num_key_value_heads=2, initializer_range=0.25
    )
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    monkeypatch.setitem(LAYOUTS, "cohere", LAYOUTS["llama"])
    with pytest.raises(UnsupportedModel, match="not a division"):
        MsPoE(first_layer=0)(model).__enter__()


def _hooks(model: Any) -> list[tuple[int, int, list[str]]]:
    return [
        (len(module._forward_hooks), len(module._forward_pre_hooks), sorted(module.__dict__))
        for module in model.modules()
    ]
