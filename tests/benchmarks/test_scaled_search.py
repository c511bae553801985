"""A checkout beside itself: the same documents, and a line for each."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from benchmarks import scaled_search
from benchmarks.checkouts import ROOT
from benchmarks.index_scaling import build


def test_a_checkout_beside_itself(tmp_path: Path) -> None:
    build(1000, tmp_path)
    trees = {"before": ROOT, "now": ROOT}
    loading, found = scaled_search.measure(trees, tmp_path, 1000, queries=2, ranking="default")
    assert set(loading) == set(found) == {"before", "now"}
    one, two = found["before"], found["now"]
    assert len(one) == len(two) == 2
    assert [each.best for each in one] == [each.best for each in two]
    assert [each.scores for each in one] == [pytest.approx(each.scores) for each in two]
    assert len(set(one[0].best)) == 10 and min(each.cpu for each in one) > 0
    shown = scaled_search.text(loading, found)
    with pytest.raises(click.ClickException, match="the error above says why"):
        scaled_search.measure({"now": ROOT}, tmp_path / "none", 1000, queries=1, ranking="default")
    assert "| before" in shown and "100.0% are the same" in shown and "0.000 apart" in shown
