"""What holds besides the values: short texts, company, restoring, refusing, proving."""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.extension import (
    METHODS,
    EntropyScaling,
    InterpolatedPositions,
    NtkScaling,
    RecurrentPositions,
    SelfExtend,
    build_method,
    extend,
    recognise,
    restore,
    selftest,
)
from indexing.extension.ntk import base_factor
from indexing.extension.table import WORKS_ON
from tests.indexing.extension.extension_models import (
    ABSOLUTE,
    CONFIGS,
    ROTARY,
    WINDOW,
    build,
    states,
    text,
)

Models = dict[str, SentenceTransformer]

LONG = 90
PAIRS = [
    (family, method)
    for family in CONFIGS
    for method, kind in METHODS.items()
    if method != "none" and ("absolute" if family in ABSOLUTE else "rotary") in kind.works_on
]
SHORT = [text(words) for words in (1, 4, 9, 17, 30)]


def snapshot(model: SentenceTransformer) -> dict[str, Any]:
    """Everything that a change could leave behind."""
    inner, tokenizer = model[0].auto_model, model.tokenizer
    found: dict[str, Any] = {
        "tensors": {
            name: (tensor.data_ptr(), tensor.clone(), tensor.requires_grad)
            for source in (model.named_parameters(), model.named_buffers())
            for name, tensor in source
        },
        "modules": {name: type(module) for name, module in model.named_modules()},
        "config": (copy.deepcopy(inner.config.to_dict()), inner.config._attn_implementation),
        "lengths": (model.max_seq_length, tokenizer.model_max_length),
        "rust": (tokenizer.backend_tokenizer.truncation, tokenizer.backend_tokenizer.padding),
        "attributes": set(model.__dict__),
    }
    for name, module in model.named_modules():
        for kind in (k for k in module.__dict__ if k.endswith(("_hooks", "_kwargs", "_called"))):
            found[f"{name}.{kind}"] = dict(module.__dict__[kind])
    return found


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    assert one.keys() == other.keys()
    for name, (place, tensor, grad) in one["tensors"].items():
        place_now, tensor_now, grad_now = other["tensors"][name]
        assert (place, grad) == (place_now, grad_now), name
        assert tensor.equal(tensor_now), name
    for what in one.keys() - {"tensors"}:
        assert one[what] == other[what], what
    return True


@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_short_texts_are_untouched_bit_for_bit(models: Models, family: str, method: str) -> None:
    model = models[family]
    untouched = model.encode(SHORT)
    for entropy in (False, True):
        extend(model, method, max_length=LONG, entropy=entropy)
        np.testing.assert_array_equal(model.encode(SHORT), untouched)
    restore(model)


@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_company_does_not_matter(models: Models, family: str, method: str) -> None:
    model = models[family]
    texts = [text(words) for words in (3, 25, 40, 88)]
    extend(model, method, max_length=LONG, entropy=True)
    together = model.encode(texts)
    apart = np.stack([model.encode([words])[0] for words in texts])
    restore(model)
    np.testing.assert_allclose(together, apart, atol=2e-6)


@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_leaving_restores_everything(models: Models, family: str, method: str) -> None:
    model, texts = models[family], [text(50), text(5)]
    vectors = model.encode(texts)
    before = snapshot(model)
    with EntropyScaling()(model), build_method(method, max_length=LONG)(model):
        changed = model.encode(texts)
        assert not np.array_equal(changed[0], vectors[0])
        assert model.max_seq_length == LONG
    assert same(before, snapshot(model))
    with pytest.raises(ZeroDivisionError), METHODS[method](max_length=LONG)(model):
        model.encode(texts)
        raise ZeroDivisionError
    assert same(before, snapshot(model))
    extend(model, method, max_length=LONG, entropy=True).encode(texts)
    restore(model)
    assert same(before, snapshot(model))
    np.testing.assert_array_equal(model.encode(texts), vectors)


def test_a_failed_pass_leaves_nothing_behind(models: Models) -> None:
    model = models["nomic_bert"]
    before = snapshot(model)
    with pytest.raises(InvalidRequest), SelfExtend(max_length=40)(model):
        model.max_seq_length = LONG
        model.encode([text(60)])
    assert same(before, snapshot(model))


@pytest.mark.parametrize("family", ["bert", "mpnet", "modernbert", "llama"])
def test_padding_on_the_left(models: Models, family: str) -> None:
    model = models[family]
    texts = [text(words) for words in (3, 40, 70)]
    for method in ("pcw", "gp", "pi", *(["self-extend", "ntk"] if family in ROTARY else ["rp"])):
        extend(model, method, max_length=LONG, entropy=True)
        right = model.encode(texts)
        model.tokenizer.padding_side = "left"
        try:
            np.testing.assert_allclose(model.encode(texts), right, atol=1e-5)
        finally:
            model.tokenizer.padding_side = "right"
            restore(model)


@pytest.mark.parametrize("family", ["roberta", "mpnet", "bert"])
def test_a_padding_token_spelt_out_in_a_text(models: Models, family: str) -> None:
    model, texts = models[family], ["w1 <pad> w2 w3 <s> w4", "w5"]
    untouched = model.encode(texts)
    for method in ("gp", "rp", "pi"):
        extend(model, method, max_length=LONG)
        np.testing.assert_array_equal(model.encode(texts), untouched)
        restore(model)


def test_the_papers_ntk_changes_short_texts(models: Models) -> None:
    model = models["nomic_bert"]
    untouched = model.encode(SHORT)
    with NtkScaling(max_length=LONG, length_aware=False)(model):
        assert np.abs(model.encode(SHORT)[-1] - untouched[-1]).max() > 1e-3


def test_factors_on_the_base() -> None:
    assert [base_factor(s) for s in (1, 2, 4, 8, 16, 64)] == [1, 3, 5, 10, 20, 80]
    between = [base_factor(s) for s in range(1, 20)]
    assert between == sorted(between)
    assert base_factor(3) == pytest.approx(3 * (5 / 3) ** (np.log(1.5) / np.log(2)))


def test_threads_do_not_meet(models: Models) -> None:
    """Two threads encode on one model, one only short texts and one long ones."""
    model = models["nomic_bert"]
    extend(model, "self-extend", max_length=LONG, entropy=True)
    jobs = {"long": [text(80), text(60)], "short": [text(7), text(20)]}
    expected = {name: model.encode(texts) for name, texts in jobs.items()}
    wrong: list[str] = []

    def run(name: str) -> None:
        for _ in range(15):
            features = prepared[name].copy()
            with torch.inference_mode():
                got = model(features)["sentence_embedding"].numpy()
            if np.abs(got - expected[name]).max() > 1e-5:
                wrong.append(name)

    prepared = {name: dict(model.preprocess(texts)) for name, texts in jobs.items()}
    threads = [threading.Thread(target=run, args=(name,)) for name in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    restore(model)
    assert not wrong


def test_extending_again_replaces(models: Models) -> None:
    model, texts = models["bert"], [text(60)]
    with RecurrentPositions(max_length=LONG)(model):
        expected = model.encode(texts)
    extend(model, "gp", max_length=LONG)
    extend(model, RecurrentPositions(max_length=LONG))
    np.testing.assert_array_equal(model.encode(texts), expected)
    assert restore(restore(model)) is model
    assert model.max_seq_length == WINDOW


@pytest.mark.parametrize(
    ("family", "method", "names"),
    [
        ("llama", "rp", "none, pcw, gp, pi, ntk, self-extend"),
        ("bert", "ntk", "none, pcw, gp, rp, pi"),
        ("mpnet", "self-extend", "none, pcw, gp, rp, pi"),
    ],
)
def test_refusals_name_what_is_supported(
    models: Models, family: str, method: str, names: str
) -> None:
    before = snapshot(models[family])
    with pytest.raises(UnsupportedModel, match=rf"it supports: {names}$"):
        extend(models[family], method, max_length=LONG)
    assert same(before, snapshot(models[family]))


def test_requests_that_make_no_sense(models: Models) -> None:
    model = models["bert"]
    with pytest.raises(InvalidRequest, match="there are: none, pcw"):
        extend(model, "yarn", max_length=LONG)
    with pytest.raises(InvalidRequest, match="max_length"):
        extend(model, "pi")
    with pytest.raises(InvalidRequest, match="max_length"):
        extend(model, InterpolatedPositions(max_length=LONG), max_length=LONG)
    with pytest.raises(InvalidRequest, match="positive"):
        InterpolatedPositions(max_length=0)
    with pytest.raises(InvalidRequest, match="positive"):
        SelfExtend(max_length=LONG, group=-1)
    with pytest.raises(UnsupportedModel, match="its own window is 32 tokens"):
        extend(model, "none", max_length=33)
    with pytest.raises(InvalidRequest, match="has 32 positions"):
        extend(model, InterpolatedPositions(max_length=LONG, original=64))


def test_no_extension_is_the_truncated_model(models: Models) -> None:
    model, texts = models["bert"], [text(60)]
    first = " ".join(texts[0].split()[:18])
    untouched = model.encode([first])
    extend(model, "none", max_length=20)
    np.testing.assert_array_equal(model.encode(texts), untouched)
    restore(model)


def test_texts_are_cut_at_the_target(models: Models) -> None:
    model, words = models["roberta"], text(100).split()
    extend(model, "pi", max_length=52)
    cut, whole = model.encode([" ".join(words[:50])]), model.encode([" ".join(words)])
    restore(model)
    np.testing.assert_array_equal(cut, whole)


def test_calls_past_the_hooks_are_refused(models: Models) -> None:
    inner = models["bert"][0].auto_model
    ids = torch.arange(10)[None] + 10
    with InterpolatedPositions(max_length=LONG)(models["bert"]):
        inner(input_ids=ids)
        inner(ids)
        with pytest.raises(InvalidRequest, match="not its forward"):
            inner.forward(input_ids=ids)


def test_self_extend_twice_is_refused(models: Models) -> None:
    model = models["llama"]
    before = snapshot(model)
    with (
        pytest.raises(InvalidRequest, match="already"),
        SelfExtend(max_length=LONG)(model),
        SelfExtend(max_length=LONG)(model),
    ):
        pass
    assert same(before, snapshot(model))


def test_local_layers_only(tmp_path: Path) -> None:
    config = CONFIGS["mistral"]()
    config.sliding_window = 16
    model = build("mistral", tmp_path, config=config)
    with pytest.raises(UnsupportedModel, match="sees only 16 tokens back"):
        extend(model, "self-extend", max_length=LONG)
    extend(model, SelfExtend(max_length=LONG, original=12))
    assert states(model, [text(60)])[0].isfinite().all()


def test_frequencies_that_depend_on_the_batch_are_refused(tmp_path: Path) -> None:
    config = CONFIGS["llama"]()
    config.rope_parameters = {"rope_type": "dynamic", "rope_theta": 2000.0, "factor": 2.0}
    model = build("llama", tmp_path, config=config)
    assert recognise(model).positions == "other"
    with pytest.raises(UnsupportedModel, match=r"it supports: none, pcw$"):
        extend(model, "pi", max_length=LONG)


def test_ntk_wants_one_base(tmp_path: Path) -> None:
    config = CONFIGS["llama"]()
    config.rope_parameters = {"rope_type": "linear", "rope_theta": 2000.0, "factor": 2.0}
    model = build("llama", tmp_path, config=config)
    with pytest.raises(UnsupportedModel, match="use pi"):
        extend(model, "ntk", max_length=LONG)
    extend(model, "pi", max_length=LONG).encode([text(50)])


def test_a_model_without_known_positions_has_windows_only(tmp_path: Path) -> None:
    import transformers

    config = transformers.T5Config(
        vocab_size=204, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, pad_token_id=1
    )
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    torch.manual_seed(0)
    transformers.T5EncoderModel(config).save_pretrained(tmp_path)
    from tests.indexing.extension.extension_models import tokenizer

    tokenizer().save_pretrained(tmp_path)
    model = SentenceTransformer(modules=[Transformer(str(tmp_path)), Pooling(32)], device="cpu")
    assert recognise(model).positions == "other"
    with pytest.raises(UnsupportedModel, match=r"it supports: none, pcw$"):
        extend(model, "gp", max_length=LONG)
    vector = extend(model, "pcw", max_length=LONG).encode([text(80)])[0]
    assert np.isfinite(vector).all()


def test_what_is_no_transformer_is_refused() -> None:
    from sentence_transformers.sentence_transformer.modules import BoW

    model = SentenceTransformer(modules=[BoW(["a", "b"])], device="cpu")
    with pytest.raises(UnsupportedModel, match="torch backend"):
        extend(model, "pcw", max_length=LONG)


def test_the_selftest_finds_hooks_that_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build("nomic_bert", tmp_path)
    rotary = model[0].auto_model.rotary_emb

    class Deaf(type(rotary)):  # type: ignore[misc]
        def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> Any:
            return super().forward(x, torch.arange(position_ids.shape[1])[None])

    class Shifted(type(rotary)):  # type: ignore[misc]
        def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> Any:
            scale = 1 if position_ids.shape[0] == 1 else 2
            return super().forward(x, position_ids * scale)

    for kind, reason in ((Deaf, "no effect"), (Shifted, "changed the output")):
        monkeypatch.setattr(selftest, "_proven", set())
        rotary.__class__ = kind
        before = snapshot(model)
        with pytest.raises(UnsupportedModel, match=reason):
            extend(model, "pi", max_length=LONG)
        assert same(before, snapshot(model))


def test_the_selftest_runs_once(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_proven", set())
    passes: list[int] = []
    handle = models["bert"][0].register_forward_hook(lambda *_: passes.append(1))
    for _ in range(3):
        with InterpolatedPositions(max_length=LONG)(models["bert"]):
            pass
    handle.remove()
    assert len(passes) == 3  # untouched, idle, busy


def test_the_table_names_every_method() -> None:
    assert list(WORKS_ON) == list(METHODS)
    assert all(kind.name == name for name, kind in METHODS.items())
