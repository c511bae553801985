"""Which cells there are, the most telling first."""

from __future__ import annotations

from training.cope import counting, flip_flop, last_sentence, selective_copy
from training.cope.cell import Cell
from training.cope.transformer import POSITIONS

SEEDS = 3
STEPS = {
    "selective-copy": 2000,
    "flip-flop": 6000,
    "counting-1": 6000,
    "last-sentence": 4000,
    "counting-3": 6000,
    "counting-5": 6000,
}
BATCH = {"flip-flop": 16}  # its sequences are the longest; others 32


def cells(*, quick: bool = False, seeds: int = SEEDS) -> list[Cell]:
    """The cells of all tasks, seed by seed.

    Args:
        quick: Shorter sequences, and a few hundred steps of a single seed: five minutes.
        seeds: How many.
    """
    tasks = [
        selective_copy.task(12 if quick else 32),
        flip_flop.task(16 if quick else 64),
        counting.task(1, 16 if quick else 32),
        last_sentence.task(2 if quick else 5),
    ]
    if not quick:
        tasks += [counting.task(3), counting.task(5)]
    return [
        Cell(task, positions, seed, 800 if quick else STEPS[task.name], BATCH.get(task.name, 32))
        for seed in range(1 if quick else seeds)
        for task in tasks
        for positions in reversed(POSITIONS)
    ]
