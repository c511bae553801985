"""TextTiling step by step, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rag_app.laboratory.evaluation.segmentation.text_tiling import TextTiling, depths, smooth


def test_scores_are_cosines_of_the_blocks_beside_each_gap() -> None:
    """Sequences of two: cat dog | cat cat | (the) fish | fish bird; blocks of one sequence.

    cat dog . cat cat = 2 / (sqrt 2 * 2); cat cat . fish = 0; fish . fish bird = 1 / sqrt 2.
    """
    tokens = ["cat", "dog", "cat", "cat", "the", "fish", "fish", "bird"]
    assert TextTiling(w=2, k=1).scores(tokens) == pytest.approx([2**-0.5, 0.0, 2**-0.5])


def test_blocks_are_of_k_sequences_or_of_as_many_as_there_are() -> None:
    """At the first gap: cat . (dog + cat) = 1 / sqrt 2; at the second: (cat + dog) . cat."""
    assert TextTiling(w=1, k=2).scores(["cat", "dog", "cat"]) == pytest.approx([2**-0.5] * 2)


def test_smoothing_averages_with_the_neighbours() -> None:
    assert smooth(np.array([0.0, 3.0, 6.0, 0.0]), 2) == pytest.approx([1.5, 3.0, 3.0, 3.0])


def test_depth_is_measured_from_the_peaks_on_either_side() -> None:
    """0.2 has the peak 0.9 on its left and 0.6 on its right: 0.7 + 0.4. 0.5 only climbs left."""
    scores = np.array([0.5, 0.9, 0.2, 0.6, 0.1])
    assert depths(scores) == pytest.approx([0.4, 0.0, 1.1, 0.0, 0.5])


def test_gaps_deeper_than_the_cutoff_three_apart() -> None:
    """Mean 0.3, deviation 0.3: more than 0.15. The second, beside a deeper one, is dropped."""
    depth = np.array([0.0, 0.4, 0.8, 0.0, 0.0, 0.6])
    assert TextTiling().gaps(depth) == [2, 5]
    assert TextTiling(cutoff=-2).gaps(depth) == []


def test_borders_move_to_the_nearest_unit() -> None:
    units = ["cat cat cat cat"] * 3 + ["fish fish fish fish"] * 3
    assert TextTiling(w=4, k=2, smoothing=0).borders(units) == [3]
    assert TextTiling(w=4, k=2, smoothing=0).borders(["cat " * 11, "fish " * 13]) == [1]
    assert TextTiling().borders(["one"]) == TextTiling().borders([]) == []
