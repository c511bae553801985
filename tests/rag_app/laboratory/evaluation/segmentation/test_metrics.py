"""Pk and WindowDiff against values worked out by hand, and against a loop over all windows."""

from __future__ import annotations

import numpy as np
import pytest

from rag_app.laboratory.evaluation.segmentation.metrics import Labels, pk, window, window_diff


def labels(*lengths: int) -> Labels:
    """Segments of these lengths."""
    return np.repeat(np.arange(len(lengths)), lengths)


def test_the_window_is_half_the_mean_segment() -> None:
    assert window(labels(4, 8)) == 3
    assert window(labels(1, 1, 1)) == 1
    assert window(labels(10)) == 5


def test_by_hand() -> None:
    """aaa|bbb against aaaa|bb, k = 2.

    Pairs (0,2) (1,3) (2,4) (3,5): the reference says same, other, other, same; the hypothesis
    same, same, other, other. Two of four differ. Borders within: 0 1 1 0 against 0 0 1 1.
    """
    reference, hypothesis = labels(3, 3), labels(4, 2)
    assert pk(reference, hypothesis, 2) == 0.5
    assert window_diff(reference, hypothesis, 2) == 0.5


def test_two_borders_for_one_count_in_window_diff_only() -> None:
    """aaa|bbb against aa|b|ccc, k = 3: every pair is apart in both; two windows hold two."""
    reference, hypothesis = labels(3, 3), labels(2, 1, 3)
    assert pk(reference, hypothesis, 3) == 0.0
    assert window_diff(reference, hypothesis, 3) == pytest.approx(2 / 3)


def test_equal_is_no_error_and_nothing_found_is_the_share_of_windows_with_a_border() -> None:
    reference = labels(5, 5)
    assert pk(reference, reference + 7, 2) == window_diff(reference, reference + 7, 2) == 0.0
    assert pk(reference, labels(10), 2) == window_diff(reference, labels(10), 2) == 2 / 8


def test_against_a_loop() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        reference = np.cumsum(draw.random(40) < 0.15, dtype=np.int64)
        hypothesis = np.cumsum(draw.random(40) < 0.15, dtype=np.int64)
        k = window(reference)
        pairs = range(40 - k)
        differ = [
            (reference[i] == reference[i + k]) != (hypothesis[i] == hypothesis[i + k])
            for i in pairs
        ]
        counts = [
            reference[i + k] - reference[i] != hypothesis[i + k] - hypothesis[i] for i in pairs
        ]
        assert pk(reference, hypothesis, k) == pytest.approx(np.mean(differ))
        assert window_diff(reference, hypothesis, k) == pytest.approx(np.mean(counts))


def test_a_text_shorter_than_a_window_has_no_error() -> None:
    assert pk(labels(1), labels(1), 1) == window_diff(labels(1), labels(1), 1) == 0.0
