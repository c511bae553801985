"""The vectors of several segments, looked up by codes: at least what one piece finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from indexing.index.dense.faiss_index import FaissIndex
from indexing.index.dense.vectors import Vectors
from indexing.index.places import Places

LEAST = 0.998


def recall(index: Vectors, queries: npt.NDArray[np.float32], truth: npt.NDArray[np.int64]) -> float:
    """The share of the nearest that is found."""
    _, found = index.search(queries, truth.shape[1])
    pairs = zip(truth.tolist(), found.tolist(), strict=True)
    return float(np.mean([len({*one} & {*two}) / len(one) for one, two in pairs]))


def test_segments_that_are_coded_find_what_one_piece_finds() -> None:
    draw = np.random.default_rng(5)
    topics = draw.standard_normal((60, 64))
    vectors = topics[draw.integers(60, size=12_000)] + draw.standard_normal((12_000, 64))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    queries = vectors[::300] + 0.05 * draw.standard_normal((40, 64)).astype(np.float32)
    truth = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :20]
    cuts = (0, 5_000, 10_000, 12_000)
    segments = Vectors(
        tuple(
            (FaissIndex.build(vectors[a:b], flat_below=4_000), Places(b - a, a))
            for a, b in pairwise(cuts)
        )
    )
    assert [one.is_approximate for one, _ in segments.parts] == [True, True, False]
    whole = recall(Vectors.of(FaissIndex.build(vectors, flat_below=4_000)), queries, truth)
    assert recall(segments, queries, truth) >= max(LEAST, whole)
