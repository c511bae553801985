"""Synthetic corpora are distributed like real ones."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.synthetic_corpus import VOCABULARY, SyntheticCorpus, word
from indexing.text.english import FUNCTION_WORDS
from retriever.query import Query


def test_cosines_are_those_of_real_vectors() -> None:
    """The cosines that synthetic_corpus.py names, and the same vectors from the same seed."""
    corpus = SyntheticCorpus.of(4000, seed=1)
    vectors = np.concatenate(list(corpus.vectors(block=1024)))
    assert vectors.shape == (4000, 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    owner = corpus.owner
    assert (np.diff(owner) >= 0).all() and 30 < corpus.documents < 120
    for apart, expected in ((1, 0.67), (5, 0.57)):
        near = (vectors[:-apart] * vectors[apart:]).sum(1)[owner[:-apart] == owner[apart:]]
        assert near.mean() == pytest.approx(expected, abs=0.04)
    half = len(vectors) // 2
    assert (vectors[:half] * vectors[half:]).sum(1).mean() == pytest.approx(0.31, abs=0.03)
    sample = corpus.queries(vectors[:20], np.arange(20))
    queries = np.stack([each.vectors[0] for each in sample])
    np.testing.assert_allclose((queries * vectors[:20]).sum(1), 0.55, atol=1e-3)
    many = corpus.queries(vectors[:400], np.arange(400))
    assert {len(Query.of(each.text).sentences) for each in many} == {2}
    again = np.concatenate(list(SyntheticCorpus.of(4000, seed=1).vectors(block=1024)))
    assert np.array_equal(vectors, again)


def test_words_are_as_frequent_as_zipf_says() -> None:
    corpus = SyntheticCorpus.of(2000)
    drawn = corpus.words(0, 2000)
    assert drawn.shape == (2000, 150) and drawn.min() >= 0 and drawn.max() < VOCABULARY
    counts = np.bincount(drawn.ravel(), minlength=VOCABULARY)
    assert counts[0] / counts[9] == pytest.approx((9.5 + 2.7) / (0.5 + 2.7), rel=0.2)


def test_words_pass_through_the_stemmer() -> None:
    lexicon = SyntheticCorpus.of(1000).lexicon()
    assert len(set(lexicon.stems)) == VOCABULARY
    for rank in (0, 5, len(FUNCTION_WORDS), 71, 1000, VOCABULARY - 1):
        assert lexicon.numbers(word(rank).capitalize()) == [rank]
