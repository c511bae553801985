"""Vectors that are kept are those that would be made, and each is made once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from indexing.encoder.encoder import Encoder
from rag_app.corpus.embedding_cache import EmbeddingCache

Vectors = npt.NDArray[np.float32]


class Counting:
    """An embedder that notes what it is given."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, texts: list[str]) -> Vectors:
        self.made += texts
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)


def test_the_same_vectors_as_without() -> None:
    embed = EmbeddingCache(Counting())
    for texts in (["a", "bb", "a"], ["bb", "ccc"], [], ["ccc", "a", "dddd"]):
        assert np.array_equal(embed(texts), Counting()(texts))


def test_each_is_made_once_until_it_is_forgotten() -> None:
    counting = Counting()
    embed = EmbeddingCache(counting, max_vectors=3)
    embed(["a", "b", "a"])
    embed(["b", "c"])
    assert counting.made == ["a", "b", "c"]
    embed(["a"])  # so that b is the one not asked for the longest
    embed(["d"])
    embed(["a", "c", "d"])
    assert counting.made == ["a", "b", "c", "d"]
    assert embed(["b", "b"]).tolist() == [[1, 1], [1, 1]]
    assert counting.made[-1] == "b"


def test_more_at_once_than_are_kept() -> None:
    embed = EmbeddingCache(Counting(), max_vectors=2)
    assert embed(["a", "bb", "ccc"])[:, 0].tolist() == [1, 2, 3]


def test_threads_share_one(encoder: Encoder) -> None:
    texts = [f"Probe {n} fell into lake {n % 7}." for n in range(60)]
    embed = EmbeddingCache(encoder.encode_queries, max_vectors=20)
    whole = encoder.encode_queries(texts)
    with ThreadPoolExecutor(4) as pool:
        for start, found in enumerate(pool.map(lambda at: embed(texts[at:]), range(40))):
            assert np.array_equal(found, whole[start:])
