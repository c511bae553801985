"""FAISS against brute force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from indexing.index.array_file import read_arrays, write_arrays
from indexing.index.dense.faiss_index import GPU_DEPTH, FaissIndex, require_faiss

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


Array = np.ndarray[Any, Any]


def same(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether two searches found the same rows with the same scores."""
    return np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.parametrize("share", [None, 0.5, 0.02])
@pytest.mark.parametrize("k", [1, 7, 500])
def test_the_nearest_are_those_of_brute_force(k: int, share: float | None) -> None:
    vectors, queries = unit(200, seed=0), unit(3, seed=1)
    allowed = None if share is None else np.random.default_rng(2).random(200) < share
    scores, positions = FaissIndex.build(vectors).search(queries, k, allowed=allowed)
    assert scores.shape == positions.shape
    for query, some, places in zip(queries, scores, positions, strict=True):
        expected = brute(vectors, query, k, allowed)
        assert places.tolist() == expected[1]
        np.testing.assert_allclose(some, expected[0], atol=1e-6)


def test_nothing_allowed_and_nothing_there() -> None:
    index, query = FaissIndex.build(unit(5, seed=0)), unit(2, seed=1)
    for scores, positions in (
        index.search(query, 3, allowed=np.zeros(5, np.bool_)),
        FaissIndex.build(np.zeros((0, 32), np.float32)).search(query, 3),
        index.search(query[:0], 3),
    ):
        assert scores.size == positions.size == 0
        assert scores.dtype == np.float32 and positions.dtype == np.int64
    assert index.search(query, 3, allowed=np.zeros(5, np.bool_))[0].shape == (2, 0)


@pytest.mark.parametrize("rows", [0, 50])
def test_saved_and_loaded(rows: int, tmp_path: Path) -> None:
    built, query = FaissIndex.build(unit(rows, seed=3)), unit(2, seed=4)
    loaded = saved_and_loaded(built, tmp_path / "index")
    assert len(loaded) == len(built) == rows
    assert same(built.search(query, 9), loaded.search(query, 9))


def test_damaged_codes_are_a_runtime_error() -> None:
    arrays = dict(FaissIndex.build(unit(50, seed=0), flat_below=0).arrays("v"))
    with pytest.raises(RuntimeError):
        FaissIndex.from_arrays(arrays | {"v.codes": arrays["v.codes"][:99] ^ 1}, "v")


def saved_and_loaded(index: FaissIndex, path: Path) -> FaissIndex:
    write_arrays(path, index.arrays("v"))
    return FaissIndex.from_arrays(read_arrays(path), "v")


# ---- large: by codes, and by the vectors behind them ----


def clustered(rows: int, *, seed: int, d: int = 32) -> FloatArray:
    """Unit vectors around 40 centres."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(40, d))[draw.integers(0, 40, rows)]
    made = centres + 0.7 * draw.normal(size=(rows, d))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def pair() -> tuple[FaissIndex, FaissIndex]:
    vectors = clustered(3000, seed=6)
    return FaissIndex.build(vectors), FaissIndex.build(vectors, flat_below=0)


@pytest.mark.parametrize("k", [1, 10, 200, 3000, 9999])
@pytest.mark.parametrize("share", [None, 0.6, 0.01])
def test_a_large_index_finds_what_a_flat_one_finds(
    k: int,
    share: float | None,
    pair: tuple[FaissIndex, FaissIndex],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All scores are those of the flat one; of its neighbours, at least 97 in 100 are found."""
    monkeypatch.setattr("indexing.index.dense.faiss_index.FLAT_BELOW", 100)
    flat, large = pair
    allowed = None if share is None else np.random.default_rng(7).random(3000) < share
    queries = unit(20, seed=8)
    exact, nearest = flat.search(queries, k, allowed=allowed)
    scores, positions_found = large.search(queries, k, allowed=allowed)
    assert large.is_approximate and not flat.is_approximate
    assert positions_found.shape == nearest.shape
    there = positions_found >= 0
    assert there.mean() > 0.97 and (allowed is None or allowed[positions_found[there]].all())
    assert np.isneginf(scores[~there]).all()
    for query, row, places in zip(queries, scores, positions_found, strict=True):
        kept = places[places >= 0]
        assert len(set(kept.tolist())) == len(kept) and (np.diff(row) <= 0).all()
        np.testing.assert_allclose(row[: len(kept)], large.vectors[kept] @ query, atol=1e-6)
    shared = [
        len(np.intersect1d(a, b)) / len(a) for a, b in zip(nearest, positions_found, strict=True)
    ]
    assert np.mean(shared) >= (1.0 if share == 0.01 or k >= 3000 else 0.97)
    np.testing.assert_allclose(scores[:, 0], exact[:, 0], atol=1e-6)


@pytest.mark.parametrize("share", [None, 0.5])
def test_codes_alone_estimate_scores(
    share: float | None, pair: tuple[FaissIndex, FaissIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without reading a vector: right on average, and most of the nearest are found."""
    monkeypatch.setattr("indexing.index.dense.faiss_index.FLAT_BELOW", 100)
    flat, large = pair
    blind = FaissIndex(large.index, np.full_like(large.vectors, np.nan))
    allowed = None if share is None else np.random.default_rng(7).random(3000) < share
    queries = unit(20, seed=8)
    scores, places = blind.estimate(queries, 200, allowed=allowed)
    assert scores.shape == places.shape == (20, 200)
    _, nearest = flat.search(queries, 200, allowed=allowed)
    errors, shared = [], []
    for query, some, there, best in zip(queries, scores, places, nearest, strict=True):
        kept = there[
            there >= 0
        ]  # of those that are allowed, a few less than asked for may be found
        assert len(kept) > 150
        assert (np.diff(some[: len(kept)]) <= 0).all()
        assert allowed is None or allowed[kept].all()
        errors += (some[: len(kept)] - large.vectors[kept] @ query).tolist()
        shared.append(len(np.intersect1d(kept, best)) / 200)
    assert abs(np.mean(errors)) < 0.02 and np.std(errors) < 0.08
    assert np.mean(shared) > 0.7


@pytest.mark.parametrize("share", [None, 0.5, 0.0])
def test_a_flat_index_and_one_of_few_estimate_nothing(
    share: float | None, pair: tuple[FaissIndex, FaissIndex]
) -> None:
    allowed = None if share is None else np.random.default_rng(7).random(3000) < share
    for index in pair if share is not None else pair[:1]:
        found = index.estimate(unit(5, seed=8), 20, allowed=allowed)
        assert same(found, index.search(unit(5, seed=8), 20, allowed=allowed))


def test_few_that_are_allowed_are_all_looked_at(pair: tuple[FaissIndex, FaissIndex]) -> None:
    flat, large = pair
    allowed = np.random.default_rng(9).random(3000) < 0.5
    queries = unit(5, seed=10)
    scores, rows = flat.search(queries, 700, allowed=allowed)
    others, same_rows = large.search(queries, 700, allowed=allowed)
    np.testing.assert_allclose(scores, others, atol=1e-6)
    np.testing.assert_array_equal(rows, same_rows)


def test_what_a_gpu_is_asked(pair: tuple[FaissIndex, FaissIndex]) -> None:
    """A flat index stands for the GPU's: no filter, and no deeper than FAISS allows there."""
    flat, large = pair
    asked: list[int] = []

    class Device:
        def search(self, queries: FloatArray, k: int) -> object:
            asked.append(k)
            return flat.search(queries, k)

    assert not flat.on_gpu
    there = FaissIndex(large.index, large.vectors)
    there.__dict__["_gpu"] = Device()
    queries = unit(2, seed=13)
    assert there.on_gpu
    for k in (5, GPU_DEPTH, GPU_DEPTH + 1):
        scores, _ = there.search(queries, k)
        np.testing.assert_allclose(scores[:, :5], flat.search(queries, 5)[0], atol=1e-6)
    there.search(queries, 5, allowed=np.ones(3000, np.bool_))
    assert asked == [5, GPU_DEPTH]


def test_products_of_some(pair: tuple[FaissIndex, FaissIndex]) -> None:
    large, queries = pair[1], unit(3, seed=11)
    for places in (range(0), [*range(5, 9), 100, *range(2990, 3000)], range(2, 1002)):
        positions = np.array(places, np.int64)
        found = large.inner_products(queries, positions)
        np.testing.assert_allclose(found, queries @ large.vectors[positions].T, atol=1e-6)


@pytest.mark.parametrize("d", [32, 7])
def test_a_large_index_saved_and_loaded(d: int, tmp_path: Path) -> None:
    built, queries = (
        FaissIndex.build(clustered(500, seed=12, d=d), flat_below=9),
        unit(4, seed=1, d=d),
    )
    loaded = saved_and_loaded(built, tmp_path / "index")
    assert loaded.is_approximate and len(loaded) == 500
    assert same(built.search(queries, 50), loaded.search(queries, 50))


def test_a_handful_is_never_coded() -> None:
    assert not FaissIndex.build(unit(15, seed=0), flat_below=0).is_approximate
    assert FaissIndex.build(unit(16, seed=0), flat_below=0).is_approximate
    assert not FaissIndex.build(unit(64, seed=0)).is_approximate


def test_codes_are_fitted_piece_by_piece_to_the_same_bits() -> None:
    """So that a merge can end meanwhile."""
    faiss, steps = require_faiss(), 0
    drawn = np.random.default_rng(3).standard_normal((6000, 16)).astype(np.float32)

    def step() -> None:
        nonlocal steps
        steps += 1

    own = FaissIndex.build(drawn, flat_below=100, step=step)
    whole = faiss.IndexPQFastScan(16, 8, 4, faiss.METRIC_INNER_PRODUCT)
    whole.pq.cp.min_points_per_centroid = 1
    whole.train(drawn)
    whole.add(drawn)
    assert faiss.serialize_index(own.index).tobytes() == faiss.serialize_index(whole).tobytes()
    assert steps == 9  # eight pieces, and one block
