"""The verdict on tuned positions: what is held out, and how the figures come about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from indexing.extension import TunedPositions, build_method
from indexing.extension.tuned import Record, digest_rows, own_rows, write_rows
from indexing.nn.architecture import recognise
from rag_app.laboratory.tuning.verdict import QUERIES, Verdict, _queries, hold_out, judge
from tests.indexing.extension.extension_models import WINDOW, build, text

LENGTH = 3 * WINDOW


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformer:
    return build("bert", tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def file(model: SentenceTransformer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random rows between the model's own."""
    table = recognise(model).table
    assert table is not None
    own = own_rows(table, WINDOW)
    rows = torch.randn(WINDOW, 2, own.shape[1], generator=torch.Generator().manual_seed(0))
    path = tmp_path_factory.mktemp("rows") / "rows.safetensors"
    write_rows(path, rows, Record("bert", digest_rows(own), WINDOW, LENGTH))
    return path


def test_no_word_is_lost_and_none_is_on_both_sides() -> None:
    texts = [
        " ".join(f"{name}{n}" for n in range(count)) for name, count in (("a", 2100), ("b", 180))
    ]
    split = hold_out(texts, max_length=LENGTH)
    assert len(split.held) == 6 and all(len(one.split()) == 72 for one in split.held)
    words = [word for part in (*split.train, *split.held) for word in part.split()]
    assert sorted(words) == sorted(" ".join(texts).split())
    assert not {*" ".join(split.train).split()} & {*" ".join(split.held).split()}


def test_too_few_pieces_are_all_trained_on() -> None:
    texts = [text(29 * 72, seed=1)]
    assert hold_out(texts, max_length=LENGTH).train == tuple(texts)
    assert hold_out(texts, max_length=LENGTH).held == ()


def test_figures_against_a_naive_loop(model: SentenceTransformer, file: Path) -> None:
    held = [text(72, seed=number) for number in range(6)]
    verdict = judge(model, file, held)
    shares = []
    for method in (TunedPositions(file), build_method("pi", max_length=LENGTH)):
        with method(model):
            vectors = [model.encode(one) for one in held]
            queries = [(model.encode(one), own) for one, own in zip(*_queries(held), strict=True)]
        hits = 0
        for query, own in queries:
            cosines = [query @ one / np.linalg.norm(one) for one in vectors]
            hits += cosines.index(max(cosines)) == own
        shares.append(hits / len(queries))
    assert (verdict.pieces, verdict.queries) == (6, 6 * QUERIES)
    assert [verdict.tuned, verdict.interpolated] == pytest.approx(shares)
    assert shares[0] != shares[1]
    low, high = verdict.interval
    assert low <= verdict.tuned - verdict.interpolated <= high


@pytest.mark.parametrize(
    ("interval", "advice"),
    [
        ((0.01, 0.2), "tuned positions are better"),
        ((-0.2, -0.01), "use --extension pi instead"),
        ((-0.1, 0.1), "does without a file"),
    ],
)
def test_the_advice_follows_the_interval(interval: tuple[float, float], advice: str) -> None:
    assert advice in Verdict(6, 48, 0.5, 0.4, interval).sentence
