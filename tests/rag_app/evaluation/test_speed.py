"""Drawn corpora are like real ones, and what is measured on them is what a search does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from indexing.text.vocabulary import FUNCTION_WORDS
from rag_app.cli.main import main
from rag_app.evaluation import speed
from rag_app.evaluation.imitation import VOCABULARY, Imitation, word
from rag_app.evaluation.latency import Latency


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> speed.SizeReport:
    folder = tmp_path_factory.mktemp("speed")
    return speed.search(1500, folder, speed.build(1500, folder), queries=4)


def test_vectors_are_alike_as_real_ones_are() -> None:
    """The cosines that imitation.py names, and the same vectors from the same seed."""
    imitation = Imitation.of(4000, seed=1)
    vectors = np.concatenate(list(imitation.vectors(block=1024)))
    assert vectors.shape == (4000, 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    owner = imitation.owner
    assert (np.diff(owner) >= 0).all() and 30 < imitation.documents < 120
    for apart, expected in ((1, 0.67), (5, 0.57)):
        near = (vectors[:-apart] * vectors[apart:]).sum(1)[owner[:-apart] == owner[apart:]]
        assert near.mean() == pytest.approx(expected, abs=0.04)
    half = len(vectors) // 2
    assert (vectors[:half] * vectors[half:]).sum(1).mean() == pytest.approx(0.31, abs=0.03)
    asked = imitation.queries(vectors[:20], np.arange(20))
    found = np.stack([one.vectors[0] for one in asked])
    np.testing.assert_allclose((found * vectors[:20]).sum(1), 0.55, atol=1e-3)
    again = np.concatenate(list(Imitation.of(4000, seed=1).vectors(block=1024)))
    assert np.array_equal(vectors, again)


def test_words_are_as_frequent_as_zipf_says() -> None:
    imitation = Imitation.of(2000)
    drawn = imitation.words(0, 2000)
    assert drawn.shape == (2000, 150) and drawn.min() >= 0 and drawn.max() < VOCABULARY
    counts = np.bincount(drawn.ravel(), minlength=VOCABULARY)
    assert counts[0] / counts[9] == pytest.approx((9.5 + 2.7) / (0.5 + 2.7), rel=0.2)


def test_words_pass_through_the_stemmer() -> None:
    lexicon = Imitation.of(1000).lexicon()
    assert len(set(lexicon.stems)) == VOCABULARY
    for rank in (0, 5, len(FUNCTION_WORDS), 71, 1000, VOCABULARY - 1):
        assert lexicon.numbers(word(rank).capitalize()) == [rank]


def test_a_size_is_measured(report: speed.SizeReport) -> None:
    assert report.passages == 1500 and report.documents > 5
    assert set(report.search) == {"default", "dense", "bm25"}
    flat, codes, *rivals = report.vectors
    assert (flat.index, codes.index) == ("flat", "codes") and len(rivals) == 5
    assert codes.recall[10] >= 0.99 and set(codes.recall) == {10, 100, 1000}
    assert report.agreement is not None and report.agreement >= 0.9
    assert min(report.megabytes.values()) > 0 and min(report.seconds.values()) >= 0
    json.dumps(speed.as_dict([report]))
    assert "1,500 passages" in speed.text([report]) and "| codes" in speed.text([report])


def test_percentiles() -> None:
    assert Latency.of([0.001] * 99 + [0.101]) == Latency(1.0, 2.0)


def test_sizes_that_make_no_sense_are_refused() -> None:
    result = CliRunner().invoke(main, ["evaluate", "speed", "--passages", "10"])
    assert result.exit_code == 1 and "1,000" in result.output


def test_what_evaluations_left_is_removed(tmp_path: Path) -> None:
    """In the cache folder of this test (conftest)."""
    left = tmp_path / "cache" / "evaluation" / "qmsum-0123"
    left.mkdir(parents=True)
    (left / "corpus.sqlite").write_bytes(b"x" * 1000)
    outside = tmp_path / "cache" / "other"
    outside.mkdir()

    def run(*options: str) -> dict[str, list[dict[str, object]]]:
        result = CliRunner().invoke(main, ["evaluate", "clear", "--json", *options])
        assert result.exit_code == 0
        return json.loads(result.stdout)  # type: ignore[no-any-return]

    there = [{"folder": str(left), "bytes": 1000}]
    assert run("--dry-run") == {"removed": [], "kept": there}
    assert run() == {"removed": there, "kept": []}
    assert not left.exists() and outside.exists()
    assert run() == {"removed": [], "kept": []}
