"""A small corpus that grows by a few documents while it is searched."""

from __future__ import annotations

from benchmarks import growth


def test_a_corpus_that_grows_is_measured() -> None:
    report = growth.evaluate(400, documents=3, queries=20)
    assert report.passages == 400 and report.segments >= 2 and report.searches > 0
    assert min(*report.change, *report.written, *report.quiet, report.amplification) > 0
    assert "| 400 passages" in growth.text([report])
