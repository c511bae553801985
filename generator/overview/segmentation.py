"""Topics along a document: the most likely borders between coherent parts.

Dynamic programming finds the exact maximum of three terms: the log odds of each border
(`border_features`), how alike the vectors within each topic are (kernel change-point detection:
Arlot, Celisse and Harchaoui, JMLR 2019), and a log-normal prior on the length of a topic as a share
of its document. People divide a long meeting into hardly more topics than a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Vectors
from generator.overview.blocks import Block
from generator.overview.border_features import Array, BorderFeatures
from indexing.documents import Passage

MOST_UNITS = 3_000  # in a longer document, neighbouring blocks are taken together
MOST_CANDIDATES = 250  # borders that are weighed against each other


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Parameters, fitted on every second meeting of QMSum's training split."""

    bias: float = 1.0  # added to the log odds of each border
    similarity: float = 60.0  # weight of the similarity within topics, which is 0 to 1 in all
    prior: float = 0.5  # weight of the prior on lengths
    share: float = 0.18  # the share of a document that a topic most likely has
    topics: int = 3  # at least, in a document of `long` words and more: one topic would say nothing
    long: int = 1_500  # words


def segment(
    blocks: Sequence[Block],
    passages: Sequence[Passage],
    vectors: Vectors,
    parameters: Segmentation = Segmentation(),
) -> list[Sequence[Block]]:
    """The topics of a document: its blocks in groups, in order."""
    step = -(-len(blocks) // MOST_UNITS)
    units = [blocks[at : at + step] for at in range(0, len(blocks), step)]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    features = BorderFeatures(units, passages, vectors / np.maximum(lengths, 1e-9))
    log_odds = features.log_odds()[1:]
    candidates = 1 + np.sort(np.argsort(-log_odds, kind="stable")[:MOST_CANDIDATES])
    edges = np.concatenate([[0], candidates, [len(units)]])
    gains = np.concatenate([[0.0], log_odds[candidates - 1] + parameters.bias, [0.0]])
    scores = _scores(features, edges, parameters)
    least = min(parameters.topics, len(units)) if features.places[-1] >= parameters.long else 1
    borders = _best_borders(gains, scores)
    while len(borders) < least:
        gains[1:-1] += 0.5
        borders = _best_borders(gains, scores)
    bounds = [int(edges[at]) * step for at in borders]
    return [blocks[a:b] for a, b in pairwise([*bounds, len(blocks)])]


def _scores(features: BorderFeatures, edges: NDArray[np.int64], parameters: Segmentation) -> Array:
    """(edges, edges) what a topic from one edge to another is worth."""
    places, total = features.places[edges], max(features.places[-1], 1.0)
    sums = features.dense.before(places) / total
    products = sums @ sums.T
    own = np.diag(products)
    share = np.maximum((places[None, :] - places[:, None]) / total, 1e-6)
    similarity = (own[None, :] + own[:, None] - 2 * products) / share
    misfit = (np.log(share) - np.log(parameters.share)) ** 2 / 2
    return np.asarray(parameters.similarity * similarity - parameters.prior * misfit, np.float64)


def _best_borders(gains: Array, scores: Array) -> list[int]:
    """Edges at which the topics of the best segmentation begin, ascending."""
    best = np.full(len(gains), -np.inf)
    origin = np.zeros(len(gains), np.int64)
    best[0] = 0.0
    for upto in range(1, len(gains)):
        totals = best[:upto] + scores[:upto, upto]
        origin[upto] = int(np.argmax(totals))
        best[upto] = totals[origin[upto]] + gains[upto]
    borders, upto = [], len(gains) - 1
    while upto:
        upto = int(origin[upto])
        borders.append(upto)
    return borders[::-1]
