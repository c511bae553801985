"""Every method on every family against the formulas, written out naively."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from indexing.extension import (
    METHODS,
    Change,
    EntropyScaling,
    GroupedPositions,
    InterpolatedPositions,
    NtkScaling,
    SelfExtend,
    extend,
    restore,
    supported,
)
from tests.indexing.extension.extension_models import (
    ABSOLUTE,
    CAUSAL,
    CONFIGS,
    ROTARY,
    WINDOW,
    build,
    ids_of,
    states,
    text,
)
from tests.indexing.extension.extension_oracle import Oracle, Setting

Models = dict[str, SentenceTransformer]
Oracles = dict[str, Oracle]

TARGET = 100
S = 4  # ceil(100 / 32)
TEXTS = [text(words) for words in (1, 6, 30, 31, 47, 63, 97)]
TOLERANCE = 2e-5

SETTINGS = {
    "none": Setting(),
    "gp": Setting("gp", s=S),
    "rp": Setting("rp"),
    "pi": Setting("pi", s=S),
    "ntk": Setting("ntk", lam=5.0),
    "self-extend": Setting("self-extend", group=S + 1, near=WINDOW // S),
}
POSITIONS = ["gp", "rp", "pi", "ntk", "self-extend"]
PAIRS = [(family, method) for family in ABSOLUTE for method in ("gp", "rp", "pi")] + [
    (family, method) for family in ROTARY for method in ("gp", "pi", "ntk", "self-extend")
]


def check(
    model: SentenceTransformer, oracle: Oracle, setting: Setting, texts: list[str] = TEXTS
) -> None:
    for words, got in zip(texts, states(model, texts), strict=True):
        expected = oracle.states(ids_of(model, words), setting)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got.numpy(), expected, atol=TOLERANCE, rtol=TOLERANCE)


def test_the_pairs_are_the_table(models: Models) -> None:
    for family, model in models.items():
        expected = {"none", "pcw"} | {method for of, method in PAIRS if of == family}
        assert set(supported(model)) == expected
    assert {method for _, method in PAIRS} | {"none", "pcw"} == set(METHODS)


@pytest.mark.parametrize("family", CONFIGS)
def test_oracle_is_the_untouched_model(models: Models, oracles: Oracles, family: str) -> None:
    check(models[family], oracles[family], SETTINGS["none"], TEXTS[:3])


@pytest.mark.parametrize("entropy", [False, True], ids=["bare", "entropy"])
@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_values(models: Models, oracles: Oracles, family: str, method: str, entropy: bool) -> None:
    setting = Setting(**{**vars(SETTINGS[method]), "entropy": entropy})
    model = models[family]
    extend(model, method, max_length=TARGET, entropy=entropy)
    try:
        check(model, oracles[family], setting)
    finally:
        restore(model)


@pytest.mark.parametrize(
    ("family", "method", "setting"),
    [
        ("bert", GroupedPositions(max_length=96, scale="own"), Setting("gp", s=2)),
        ("roberta", InterpolatedPositions(max_length=96, scale="own"), Setting("pi", s=2)),
        ("bert", InterpolatedPositions(max_length=96, original=16), Setting("pi", 16, s=6)),
        ("nomic_bert", NtkScaling(max_length=64), Setting("ntk", lam=3.0)),
        ("llama", NtkScaling(max_length=64, scale="own"), Setting("ntk", lam=3.0)),
        ("modernbert", NtkScaling(max_length=96, factor=7.5), Setting("ntk", lam=7.5)),
        (
            "qwen2",
            NtkScaling(max_length=256, length_aware=False),
            Setting("ntk", lam=10.0, always=True),
        ),
        (
            "nomic_bert",
            SelfExtend(max_length=64, group=3, neighbours=5),
            Setting("self-extend", group=3, near=5),
        ),
        (
            "qwen3",
            SelfExtend(max_length=64, group=2, neighbours=30),
            Setting("self-extend", group=2, near=30),
        ),
    ],
    ids=str,
)
def test_settings(
    models: Models, oracles: Oracles, family: str, method: Change, setting: Setting
) -> None:
    texts = [text(words) for words in (5, 20, 33, 50, 60)]
    with method(models[family]) as model:
        check(model, oracles[family], setting, texts)


@pytest.mark.parametrize(("family", "method"), [p for p in PAIRS if p[1] in ("gp", "pi", "ntk")])
def test_scale_of_their_own(models: Models, oracles: Oracles, family: str, method: str) -> None:
    factors = {1: 1.0, 2: 3.0, 3: 3 * (5 / 3) ** (np.log(1.5) / np.log(2)), 4: 5.0}
    with METHODS[method](max_length=TARGET, scale="own")(models[family]) as model:  # type: ignore[call-arg]
        got = states(model, TEXTS)
    for words, hidden in zip(TEXTS, got, strict=True):
        ids = ids_of(models[family], words)
        s = -(-len(ids) // WINDOW)
        setting = Setting(method, s=s, lam=factors[s])
        expected = oracles[family].states(ids, setting)
        np.testing.assert_allclose(hidden, expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("family", CONFIGS)
def test_entropy_alone(models: Models, oracles: Oracles, family: str) -> None:
    with EntropyScaling(original=9)(models[family]) as model:
        check(model, oracles[family], Setting(window=9, entropy=True), TEXTS[:3])


@pytest.mark.parametrize("family", ["nomic_bert", "llama", "modernbert"])
@pytest.mark.parametrize(("block", "budget"), [(1, 1), (9, 100), (64, 4000), (7, None)])
def test_self_extend_in_small_tiles(
    models: Models,
    oracles: Oracles,
    family: str,
    block: int,
    budget: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the scores of a tile written, so many at most, and by the CPU's fused kernel."""
    monkeypatch.setattr("indexing.nn.banded_attention.BLOCK", block)
    if budget is not None:
        monkeypatch.setattr("indexing.nn.banded_attention.BUDGET", budget)
        monkeypatch.setattr("indexing.nn.banded_attention._has_fused", lambda *_: False)
    with SelfExtend(max_length=TARGET)(models[family]) as model:
        check(model, oracles[family], SETTINGS["self-extend"], TEXTS[-3:-1])


@pytest.mark.parametrize(("family", "method"), [("modernbert", "pi"), ("llama", "self-extend")])
def test_eager_attention(tmp_path: Path, family: str, method: str) -> None:
    model = build(family, tmp_path)
    model[0].auto_model.set_attn_implementation("eager")
    extend(model, method, max_length=TARGET)
    check(model, Oracle(model[0].auto_model), SETTINGS[method])


@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_vectors_of_encode(models: Models, oracles: Oracles, family: str, method: str) -> None:
    model = models[family]
    extend(model, method, max_length=TARGET)
    try:
        got = model.encode(TEXTS, batch_size=3)
    finally:
        restore(model)
    for vector, words in zip(got, TEXTS, strict=True):
        hidden = oracles[family].states(ids_of(model, words), SETTINGS[method])
        pooled = hidden[-1] if family in CAUSAL else hidden.mean(axis=0)
        np.testing.assert_allclose(vector, pooled / np.linalg.norm(pooled), atol=1e-5)
