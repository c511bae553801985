"""Metrics of a segmentation: Pk and WindowDiff, both errors from 0 (equal) to 1.

A segmentation of n units is (n,) labels, equal for units of one segment and different for
neighbours of two. Both slide a window of k units, half the reference's mean segment, over the text.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int64]


def window(reference: Labels) -> int:
    """Half the mean length of the reference's segments, rounded, at least 1."""
    segments = 1 + np.count_nonzero(np.diff(reference))
    return max(1, round(len(reference) / segments / 2))


def pk(reference: Labels, hypothesis: Labels, k: int) -> float:
    """The share of pairs k units apart that only one of both puts into one segment.

    Beeferman, Berger and Lafferty, "Statistical models for text segmentation", Machine Learning
    1999. 0 for a text too short for a pair.
    """
    differs = (_borders_within(reference, k) == 0) != (_borders_within(hypothesis, k) == 0)
    return float(differs.mean()) if len(differs) else 0.0


def window_diff(reference: Labels, hypothesis: Labels, k: int) -> float:
    """The share of windows within which both have different numbers of borders.

    Pevzner and Hearst, "A critique and improvement of an evaluation metric for text segmentation",
    Computational Linguistics 2002. 0 for a text too short for a window.
    """
    differs = _borders_within(reference, k) != _borders_within(hypothesis, k)
    return float(differs.mean()) if len(differs) else 0.0


def _borders_within(labels: Labels, k: int) -> Labels:
    """(n - k,) how many borders lie between each unit and the k-th after it."""
    before = np.zeros(len(labels), np.int64)
    np.cumsum(np.diff(labels) != 0, out=before[1:])
    return before[k:] - before[:-k]
