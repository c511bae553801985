"""A small size, measured whole."""

from __future__ import annotations

import json

import pytest

from benchmarks import index_scaling


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> index_scaling.SizeReport:
    folder = tmp_path_factory.mktemp("scaling")
    return index_scaling.search(1500, folder, index_scaling.build(1500, folder), queries=4)


def test_a_size_is_measured(report: index_scaling.SizeReport) -> None:
    assert report.passages == 1500 and report.documents > 5
    assert set(report.search) == {"default", "dense", "bm25"}
    flat, codes, *rivals = report.vectors
    assert (flat.index, codes.index) == ("flat", "codes") and len(rivals) == 5
    assert codes.recall[10] >= 0.99 and set(codes.recall) == {10, 100, 1000}
    assert report.agreement is not None and report.agreement >= 0.9
    assert min(report.megabytes.values()) > 0 and min(report.seconds.values()) >= 0
    json.dumps(index_scaling.as_dict([report]))
    assert "1,500 passages" in index_scaling.text([report]) and "| codes" in index_scaling.text(
        [report]
    )
