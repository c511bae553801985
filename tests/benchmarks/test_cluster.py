"""A small corpus, measured on a Ray cluster of one node."""

from __future__ import annotations

import pytest

from benchmarks import cluster


@pytest.mark.slow
def test_shards_and_workers_are_measured_beside_this_process() -> None:
    (two,) = cluster.searches(400, queries=3, counts=[2])
    assert (two.shards, two.equal) == (2, 3) and min(two.memory, two.ray_ratio) > 0
    (one,) = cluster.work(3, 100, 4, [1], rounds=1)
    assert one.workers == 1
    assert min(one.tokens, one.tokens_here, one.questions, one.questions_here) > 0
    assert one.tokens_ratio == pytest.approx(one.tokens / one.tokens_here)
    both = cluster.text([two], [one])
    assert "| 2 | " in both and both.endswith(cluster.text([], [one]))
