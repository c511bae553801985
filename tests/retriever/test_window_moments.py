"""Moments of window sums, against window sums that are added up one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexing.index import padding
from indexing.index.padding import Padding
from retriever import window_moments as moments
from retriever.window_moments import Row, window_moments


@pytest.mark.parametrize("chunk", [7, 100, 32768])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("longest", [1, 4, 40])
def test_moments_of_windows_are_those_of_their_sums(
    longest: int, sparse: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "CHUNK", chunk)
    draw = np.random.default_rng(longest)
    lengths = draw.integers(1, longest + 1, 80)
    starts = np.cumsum(lengths) - lengths
    padded = Padding.of(starts, int(lengths.sum()))
    words, pairs = (draw.random(int(lengths.sum()), np.float32) for _ in range(2))
    pairs[pairs < 0.9] = 0
    rows = Row(padded.row(words)), Row(padded.row(pairs))
    if sparse:
        rows = rows[0], replace(rows[1], held=padded.places[pairs > 0].astype(np.int64))
    windows = [(0, rows[0]), (1, rows[0]), (padding.REACH, rows[0]), (0, rows[1]), (2, rows[1])]
    products, sums = window_moments(padded, windows)
    scores = [words, words, words, pairs, pairs]
    values = np.stack(
        [
            padded.window_sums(one, reach).astype(np.float64)
            for one, (reach, _) in zip(scores, windows, strict=True)
        ]
    )
    np.testing.assert_allclose(products, values @ values.T, rtol=1e-5)
    np.testing.assert_allclose(sums, np.add.reduceat(values, starts, axis=1), rtol=1e-4, atol=1e-5)
