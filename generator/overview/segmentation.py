"""Topics along a document: blocks grouped so that the vectors within each group are alike.

Kernel change-point detection (Arlot, Celisse and Harchaoui, "A kernel multiple change-point
algorithm via model selection", JMLR 2019): the grouping is the one of greatest similarity within
its groups, less a price for each border, found exactly by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Vectors
from generator.overview.blocks import Block
from indexing.documents import Passage

PRICE = 0.017  # of a border, as a share of what all vectors together say
LEAST = 150  # words of a topic
MOST_BLOCKS = 2_000  # in longer documents neighbours are joined before

Matrix = NDArray[np.float64]


def segment(
    blocks: Sequence[Block], passages: Sequence[Passage], vectors: Vectors
) -> list[Sequence[Block]]:
    """The topics of a document: its blocks in groups, in order.

    Args:
        blocks: One at least.
        passages: Of the document.
        vectors: (passages, d) their vectors.
    """
    edges = _edges(blocks)
    sums = _running_sums(blocks, edges, passages, vectors)
    lengths = np.array([sum(block.words for block in blocks[a:b]) for a, b in pairwise(edges)])
    borders = _best_borders(_energies(sums, lengths), lengths)
    bounds = [edges[at] for at in borders]
    return [blocks[a:b] for a, b in pairwise([*bounds, len(blocks)])]


def _edges(blocks: Sequence[Block]) -> list[int]:
    """Blocks at which a topic may begin, and their number."""
    step = -(-len(blocks) // MOST_BLOCKS)
    return [*range(0, len(blocks), step), len(blocks)]


def _running_sums(
    blocks: Sequence[Block], edges: Sequence[int], passages: Sequence[Passage], vectors: Vectors
) -> Matrix:
    """(edges, d) the vectors of all characters before each edge, less the document's mean."""
    starts = np.array([passage.start for passage in passages], np.float64)
    ends = np.array([passage.end for passage in passages], np.float64)
    lengths = ends - starts
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    centred = vectors - np.average(vectors, axis=0, weights=lengths)
    at = np.array([blocks[edge].start for edge in edges[:-1]] + [blocks[-1].end], np.float64)
    before = np.clip(at[:, None] - starts, 0, lengths)
    return np.asarray(before @ centred / lengths.sum(), np.float64)


def _energies(sums: Matrix, lengths: NDArray[np.int64]) -> Matrix:
    """(edges, edges) similarity within the group from one edge to another, summed."""
    at = np.concatenate([[0], np.cumsum(lengths)]) / max(lengths.sum(), 1)
    products = sums @ sums.T
    own = np.diag(products)
    length = at[None, :] - at[:, None]
    total = own[None, :] + own[:, None] - 2 * products
    return np.where(length > 0, total / np.maximum(length, 1e-9), 0.0)


def _best_borders(energies: Matrix, lengths: NDArray[np.int64]) -> list[int]:
    """Where the groups of the best grouping begin."""
    at = np.concatenate([[0], np.cumsum(lengths)])
    best = np.full(len(at), -np.inf)
    origin = np.zeros(len(at), np.int64)
    best[0] = 0.0
    for upto in range(1, len(at)):
        gains = best[:upto] + energies[:upto, upto] - PRICE
        gains[at[upto] - at[:upto] < LEAST] -= 1.0
        origin[upto] = int(np.argmax(gains))
        best[upto] = gains[origin[upto]]
    borders, upto = [], len(at) - 1
    while upto:
        upto = int(origin[upto])
        borders.append(upto)
    return borders[::-1]
