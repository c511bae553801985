"""Attention maps as pictures: which token looks at which, head by head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib, save
from training.cope.cell import Cell, chance, trained
from training.cope.task import NOT_ASKED


def draw(cells: Sequence[Cell], folder: Path, path: Path) -> None:
    """Writes the maps of cells that are done, on one sequence of their task: a row a cell.

    Of all heads of the last layer; only queries after which something is asked are shown.

    Raises:
        MissingDependency: matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    batch = cells[0].task.trained_on(1, chance(cells[0], -100))
    asked = batch.targets[0] != NOT_ASKED
    maps = [trained(cell, folder).maps(batch.tokens)[-1, 0][:, asked] for cell in cells]
    heads = maps[0].shape[0]
    figure = Figure(figsize=(3.0 * heads, 2.6 * len(cells)), dpi=110, layout="constrained")
    panels = figure.subplots(len(cells), heads, squeeze=False)
    for row, (cell, weights) in enumerate(zip(cells, maps, strict=True)):
        for head in range(heads):
            panel = panels[row][head]
            shown = weights[head].sqrt().numpy()
            panel.imshow(shown, aspect="auto", cmap="viridis", vmin=0, interpolation="nearest")
            panel.yaxis.set_major_locator(MaxNLocator(integer=True))
            panel.set_title(f"{cell.positions}, head {head + 1}", fontsize=8)
            panel.tick_params(labelsize=6)
        panels[row][0].set_ylabel("question", fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("token", fontsize=8)
    figure.suptitle(f"{cells[0].task.name}: last layer, square root of the weight", fontsize=9)
    save(figure, path)
