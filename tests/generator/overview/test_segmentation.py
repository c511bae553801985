"""Topics: where texts on different things meet, and the best grouping of all."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from generator.overview.segmentation import _best_borders


def test_the_best_borders_of_all_ways_to_cut() -> None:
    draw = np.random.default_rng(5)
    for _ in range(10):
        gains = np.concatenate([[0.0], draw.normal(size=6), [0.0]])
        scores = draw.normal(size=(8, 8))
        worth = {}
        for count in range(7):
            for inner in combinations(range(1, 7), count):
                edges = (0, *inner, 7)
                parts = sum(scores[a, b] for a, b in pairwise(edges))
                worth[edges[:-1]] = parts + sum(gains[at] for at in inner)
        assert tuple(_best_borders(gains, scores)) == max(worth, key=lambda cut: worth[cut])
