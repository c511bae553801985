"""Sums and products of windows over all passages, without adding up one window.

A window sum at a place adds up so many neighbours on either side of it. Over all places, products
of two such sums are the correlations of their rows at each lag, as often as two neighbours of a
place are that far apart. What windows around empty places add to that is taken away: they are few.
A document's sum of windows is its own sum once for each neighbour, without what is missing at its
ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.index.padding import REACH, Padding

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

CHUNK = 1 << 18  # places that are multiplied in one call, which leaves Python to other threads


@dataclass(frozen=True, eq=False)
class Row:
    """Scores of all passages, in a row with empty places."""

    scores: FloatArray  # (size,) 0 in empty places
    held: IntArray | None = None  # (n,) where they are not 0; None where that is in many places

    def sums(self, starts: IntArray) -> FloatArray:
        """(documents,) over the passages of each document."""
        if self.held is None:
            return np.add.reduceat(self.scores, starts)
        owner = np.searchsorted(starts, self.held, side="right") - 1
        return np.bincount(owner, self.scores[self.held], len(starts)).astype(np.float32)


def window_moments(
    padding: Padding, windows: Sequence[tuple[int, Row]]
) -> tuple[DoubleArray, FloatArray]:
    """Of window sums over all passages, the products of each two, and sums by document.

    Args:
        padding: Where the passages stand.
        windows: For each, how many neighbours on either side (REACH at most), and the row that is
            added up.

    Returns:
        Products (w, w) and sums (w, documents).
    """
    most: dict[Row, int] = {}
    for reach, row in windows:
        most[row] = max(reach, most.get(row, 0))
    firsts = np.append(padding.starts, padding.size)  # the gap behind the last leads to the first
    around = firsts + np.arange(-2 * REACH, REACH)[:, None]
    edges = {row: row.scores.take(around, mode="wrap") for row, reach in most.items() if reach}
    sums = [
        (2 * reach + 1) * row.sums(padding.starts) - _missing(edges.get(row), reach)
        for reach, row in windows
    ]
    between = [_around_empty(edges[row], reach) if reach else None for reach, row in windows]
    correlations: dict[tuple[Row, Row], DoubleArray] = {}
    products = np.zeros((len(windows), len(windows)))
    for i, (reach, one) in enumerate(windows):
        for j, (other, two) in enumerate(windows[: i + 1]):
            if (one, two) not in correlations:
                found = _correlation(one, two, most[one] + most[two])
                correlations |= {(two, one): found[::-1], (one, two): found}
            pairs = np.convolve(np.ones(2 * reach + 1), np.ones(2 * other + 1))
            beside = (len(correlations[one, two]) - len(pairs)) // 2
            whole = pairs @ correlations[one, two][beside : beside + len(pairs)]
            left, right = between[i], between[j]
            if left is not None and right is not None:
                whole -= float(left.ravel() @ right.ravel())
            products[i, j] = products[j, i] = whole
    return products, np.stack(sums)


def _correlation(one: Row, two: Row, most: int) -> DoubleArray:
    """(2 * most + 1,) of two rows, the sums of products at each lag from -most to most."""
    if one.held is not None and two.held is None:
        return _correlation(two, one, most)[::-1]
    if two.held is not None:
        before = two.held - np.arange(-most, most + 1)[:, None]
        scores = one.scores.take(before, mode="wrap")
        return np.asarray(scores @ two.scores[two.held], np.float64)
    found = np.zeros(2 * most + 1)
    for start in range(0, len(one.scores), CHUNK):
        for lag in range(most + 1):
            found[most + lag] += _product(one.scores, two.scores, start, lag)
            if lag and one is not two:
                found[most - lag] += _product(two.scores, one.scores, start, lag)
    if one is two:
        found[:most] = found[:most:-1]
    return found


def _product(one: FloatArray, two: FloatArray, start: int, lag: int) -> float:
    ahead = two[start + lag : start + lag + CHUNK]
    return float(np.einsum("i,i->", one[start : start + len(ahead)], ahead))


def _around_empty(edges: FloatArray, reach: int) -> FloatArray:
    """(REACH, documents + 1) window sums around the empty places between documents."""
    places = range(REACH, 2 * REACH)
    return np.stack([edges[at - reach : at + reach + 1].sum(axis=0) for at in places])


def _missing(edges: FloatArray | None, reach: int) -> FloatArray:
    """(documents,) what its first and last passages lack in a document's windows."""
    if edges is None:
        return np.zeros(1, np.float32)
    missing = np.zeros(edges.shape[1] - 1, np.float32)
    for at in range(reach):
        missing += (reach - at) * (edges[2 * REACH + at, :-1] + edges[REACH - 1 - at, 1:])
    return missing
