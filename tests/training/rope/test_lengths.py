"""Runs of one method are one line, whatever the target; what contradicts itself is refused."""

from __future__ import annotations

from typing import Any

import click
import pytest

from training.rope.lengths import join, table


def _run(method: str, **accuracies: float) -> dict[str, Any]:
    """As `rag-app evaluate table --task passkey --json` prints it; lengths as `t256=0.5`."""
    fingerprint: dict[str, Any] = {"model": "minilm-rope", "revision": "1"}
    fingerprint |= {"extension": method.partition(":")[0], "max_length": 0, "pooling": "mean"}
    fingerprint |= {"dtype": "float32", "dimension": 384}
    lengths = {
        length[1:]: {"documents": 50, "acc_at_1": x, "ndcg_at_10": x, "encoded": 0, "seconds": {}}
        for length, x in accuracies.items()
    }
    report = {"fingerprint": fingerprint, "lengths": lengths}
    return {"rows": [{"method": f"{method}/dense", "tasks": {"passkey": report}}]}


def test_targets_that_grow_are_one_line() -> None:
    """Cells by length; the mean only where all lengths from 256 to 2,048 are there."""
    short = _run("ntk:2048", t256=0.9, t512=0.8, t1024=0.7, t2048=0.4)
    lines = join([short, _run("ntk:4096", t4096=0.54), _run("pi:4096", t4096=0.5)])
    assert [line.name for line in lines] == ["ntk:T", "pi:4096"]
    rows = [
        [cell.strip() for cell in row.split("|")[2:-1]]
        for row in table(lines, "passkey").split("\n")
    ]
    assert rows[2] == ["`ntk:T`", "50", "90", "80", "70", "40", "54", "70.0"]
    assert rows[3] == ["`pi:4096`", "50", "", "", "", "", "50", ""]


def test_two_results_for_a_length_are_refused() -> None:
    """Neither is chosen in silence."""
    with pytest.raises(click.ClickException, match="two results: ntk:8192/dense, passkey, 4096"):
        join([_run("ntk:4096", t4096=0.5), _run("ntk:8192", t4096=0.4)])
