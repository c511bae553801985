"""Metrics against naive loops, and against scikit-learn where it computes the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from rag_app.laboratory.evaluation import metrics


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20), st.data())
def test_rank_counts_every_tie_against_the_gold(scores: list[int], data: st.DataObject) -> None:
    gold = data.draw(st.integers(0, len(scores) - 1))
    others = scores[:gold] + scores[gold + 1 :]
    naive = 1 + sum(other >= scores[gold] for other in others)
    assert metrics.rank(np.array(scores, np.float32), gold) == naive


def test_equal_scores_find_nothing() -> None:
    ranks = [metrics.rank(np.zeros(50, np.float32), gold) for gold in range(50)]
    assert metrics.accuracy(ranks) == 0
    assert metrics.ndcg(ranks) == 0


def test_documents_left_out_rank_last() -> None:
    assert metrics.rank(np.array([1.0, -np.inf, 0.5, -np.inf]), 3) == 4


def test_ndcg_is_that_of_scikit_learn() -> None:
    scores = np.random.default_rng(1).normal(size=(300, 40))  # no ties
    gold = np.random.default_rng(2).integers(0, 40, size=300)
    ours = metrics.ndcg([metrics.rank(row, g) for row, g in zip(scores, gold, strict=True)])
    relevance = np.zeros_like(scores)
    relevance[np.arange(300), gold] = 1
    assert ours == pytest.approx(ndcg_score(relevance, scores, k=10), abs=1e-12)


def test_ndcg_by_hand() -> None:
    assert metrics.ndcg([1, 3, 10, 11]) == pytest.approx((1 + 0.5 + 1 / np.log2(11) + 0) / 4)
    assert metrics.accuracy([1, 3, 1, 11]) == 0.5
    assert metrics.ndcg([]) == metrics.accuracy([]) == 0


@given(st.lists(st.integers(1, 50), max_size=20), st.integers(0, 300))
def test_the_first_piece_past_the_budget_ends_the_context(words: list[int], budget: int) -> None:
    taken = total = 0
    for count in words:
        total += count
        if total > budget:
            break
        taken += 1
    assert metrics.within_budget(words, budget) == taken


spans = st.tuples(st.integers(0, 30), st.integers(1, 8)).map(lambda s: (s[0], s[0] + s[1]))


@given(
    st.lists(spans, min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 1), spans), max_size=5),
)
def test_covered_compares_characters(
    gold: list[tuple[int, int]], context: list[tuple[int, tuple[int, int]]]
) -> None:
    characters = {at for owner, span in context if owner == 1 for at in range(*span)}
    naive = sum(any(at in characters for at in range(*span)) for span in gold) / len(gold)
    places = [(owner, start, end) for owner, (start, end) in context]
    assert metrics.coverage(gold, 1, places) == naive
