"""A short transcript that grows by a few lines while it is watched."""

from __future__ import annotations

from benchmarks import live


def test_a_transcript_that_grows_is_measured() -> None:
    report = live.measure(200, 3, 0.1)
    assert (report.lines, report.lost, report.twice) == (3, 0, 0)
    assert min(*report.found, *report.told, report.written, report.cpu, report.disk) > 0
