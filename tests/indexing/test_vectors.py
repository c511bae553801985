"""FAISS against brute force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from indexing.vectors import VectorIndex

FloatArray = npt.NDArray[np.float32]


def unit(rows: int, *, seed: int, d: int = 32) -> FloatArray:
    made = np.random.default_rng(seed).normal(size=(rows, d)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def brute(
    vectors: FloatArray, query: FloatArray, k: int, allowed: npt.NDArray[np.bool_] | None
) -> tuple[list[float], list[int]]:
    """Every product by itself, sorted."""
    scored = [
        (float(sum(float(a) * float(b) for a, b in zip(vector, query, strict=True))), at)
        for at, vector in enumerate(vectors)
        if allowed is None or allowed[at]
    ]
    best = sorted(scored, key=lambda one: (-one[0], one[1]))[:k]
    return [score for score, _ in best], [at for _, at in best]


@pytest.mark.parametrize("share", [None, 0.5, 0.02])
@pytest.mark.parametrize("k", [1, 7, 500])
def test_the_nearest_are_those_of_brute_force(k: int, share: float | None) -> None:
    vectors, queries = unit(200, seed=0), unit(3, seed=1)
    allowed = None if share is None else np.random.default_rng(2).random(200) < share
    scores, positions = VectorIndex.build(vectors).search(queries, k, allowed=allowed)
    assert scores.shape == positions.shape
    for query, some, places in zip(queries, scores, positions, strict=True):
        expected = brute(vectors, query, k, allowed)
        assert places.tolist() == expected[1]
        np.testing.assert_allclose(some, expected[0], atol=1e-6)


def test_nothing_allowed_and_nothing_there() -> None:
    index, query = VectorIndex.build(unit(5, seed=0)), unit(2, seed=1)
    for scores, positions in (
        index.search(query, 3, allowed=np.zeros(5, np.bool_)),
        VectorIndex.build(np.zeros((0, 32), np.float32)).search(query, 3),
        index.search(query[:0], 3),
    ):
        assert scores.size == positions.size == 0
        assert scores.dtype == np.float32 and positions.dtype == np.int64
    assert index.search(query, 3, allowed=np.zeros(5, np.bool_))[0].shape == (2, 0)


@pytest.mark.parametrize("rows", [0, 50])
def test_saved_and_loaded(rows: int, tmp_path: Path) -> None:
    built, query = VectorIndex.build(unit(rows, seed=3)), unit(2, seed=4)
    built.save(tmp_path / "index.faiss")
    loaded = VectorIndex.load(tmp_path / "index.faiss")
    assert len(loaded) == len(built) == rows
    for one, two in zip(built.search(query, 9), loaded.search(query, 9), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("data", [b"", b"garbage" * 99])
def test_a_damaged_file_is_a_runtime_error(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "index.faiss").write_bytes(data)
    with pytest.raises(RuntimeError):
        VectorIndex.load(tmp_path / "index.faiss")


def test_the_vectors_given_are_not_kept() -> None:
    """A change to them later must not reach the index."""
    vectors = unit(4, seed=5)
    index, query = VectorIndex.build(vectors), vectors[:1].copy()
    vectors[:] = 0
    assert index.search(query, 1)[0][0, 0] == pytest.approx(1, abs=1e-6)
