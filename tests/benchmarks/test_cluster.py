"""A small corpus, measured on a Ray cluster of one node."""

from __future__ import annotations

import pytest

from benchmarks import cluster


@pytest.mark.slow
def test_shards_and_workers_are_measured_beside_this_process() -> None:
    one, two = cluster.searches(400, queries=3, counts=[2])
    assert (one.shards, one.ray, two.shards) == (0, None, 2)
    assert one.equal == two.equal == 3 and two.ray and two.memory > 0
    here, there = cluster.work(3, 100, 4, [1])
    assert (here.workers, there.workers) == (0, 1)
    assert min(here.tokens, there.tokens, here.questions, there.questions) > 0
    assert "| one piece |" in cluster.text([one, two], [here, there])
