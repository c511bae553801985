"""A small corpus, measured in one piece and in two shards."""

from __future__ import annotations

from benchmarks import shards


def test_shards_are_measured_beside_one_piece() -> None:
    whole, two = shards.evaluate(400, [2], queries=3)
    assert (whole.shards, two.shards) == (0, 2)
    assert two.equal == 3, "every hit and score"
    assert min(two.publish, two.change, two.ratio, two.search.p50) > 0
    assert "| one piece |" in shards.text([whole, two])
