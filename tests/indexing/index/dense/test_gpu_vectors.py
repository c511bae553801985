"""Products on a GPU, for which the CPU stands here, beside float64."""

from __future__ import annotations

import numpy as np
import pytest

from indexing.errors import CorpusError
from indexing.index.dense import gpu_vectors
from indexing.index.dense.faiss_index import FaissIndex
from indexing.index.dense.gpu_vectors import GpuVectors


def test_products_are_those_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    vectors = draw.standard_normal((250, 24)).astype(np.float32)
    queries = draw.standard_normal((3, 24)).astype(np.float32)
    wanted = queries.astype(np.float64) @ vectors.T.astype(np.float64)
    monkeypatch.setattr(gpu_vectors, "BLOCK", 100)
    index = FaissIndex.build(vectors)
    there = index.on("cpu")
    assert there.gpu is not None
    found = there.products(queries)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    monkeypatch.setattr(GpuVectors, "products", lambda self, queries: "asked")
    answer: object = there.products(queries)
    assert answer == "asked"
    np.testing.assert_allclose(index.products(queries), wanted, atol=1e-5)


def test_no_vectors_and_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    empty = FaissIndex.build(np.zeros((0, 8), np.float32)).on("cpu")
    assert empty.products(np.ones((2, 8), np.float32)).shape == (2, 0)

    def full(*_: object, **__: object) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(CorpusError, match="no room for 5 vectors"):
        GpuVectors(np.zeros((5, 8), np.float32), device="cpu")
