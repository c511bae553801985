"""The table of errors, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean

from rag_app.laboratory.evaluation.table import grid
from training.cope.cell import Cell, Outcome, outcome
from training.cope.transformer import POSITIONS

PAPER = {
    "counting-1": {"absolute": 5.3, "rope": 1.1, "cope": 0.0},
    "counting-3": {"absolute": 67.6, "rope": 17.8, "cope": 1.2},
    "counting-5": {"absolute": 71.5, "rope": 22.4, "cope": 7.4},
}
"""Test error in percent, in the distribution; there RoPE's column is a relative embedding."""


def table(cells: Sequence[Cell], folder: Path) -> str:
    """Errors in percent as Markdown, means over the seeds that are done."""
    header = ["task", "split", "seeds", "steps"]
    header += [*POSITIONS, *(f"{name} (paper)" for name in POSITIONS)]
    rows = []
    by_task = sorted(cells, key=lambda cell: cell.task.name)
    for name, some in groupby(by_task, key=lambda cell: cell.task.name):
        found = [(cell, outcome(cell, folder)) for cell in some]
        task, steps = found[0][0].task, found[0][0].steps
        for split in task.splits:
            own = {p: _errors(found, p, split) for p in POSITIONS}
            counts = "/".join(str(len(own[p])) for p in POSITIONS)
            paper = PAPER.get(name, {}) if not split else {}
            rows.append(
                [name, split or "as trained", counts, f"{steps:,}"]
                + [f"{100 * fmean(own[p]):.1f}" if own[p] else "not run" for p in POSITIONS]
                + [f"{paper[p]:.1f}" if p in paper else "" for p in POSITIONS]
            )
    return grid(header, rows)


def _errors(
    found: Sequence[tuple[Cell, Outcome | None]], positions: str, split: str
) -> list[float]:
    return [
        done.errors[split]
        for cell, done in found
        if done is not None and cell.positions == positions
    ]
