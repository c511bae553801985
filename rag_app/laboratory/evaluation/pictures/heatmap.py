"""Heatmaps of a needle report: a panel for each method, depth by length."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.errors import InvalidRequest, MissingDependency
from rag_app.output_file import writable

if TYPE_CHECKING:
    from rag_app.laboratory.evaluation.needle import MethodResult, NeedleReport


def require_matplotlib() -> None:
    """Check for matplotlib before the work that is to be plotted.

    Raises:
        MissingDependency: It is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingDependency("matplotlib", "Drawing a picture", 'pip install "rag-app[plots]"')


def draw(report: NeedleReport, path: Path) -> None:
    """Write the heatmaps as PNG; no display is needed.

    Raises:
        MissingDependency: matplotlib is not installed.
        InvalidRequest: The file cannot be written.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    count = len(report.results)
    figure = Figure(figsize=(1.5 + 2.6 * count, 3.6), dpi=150, layout="constrained")
    panels = figure.subplots(1, count, squeeze=False, sharey=True)[0]
    for panel, result in zip(panels, report.results, strict=True):
        image = _panel(panel, report, result)
    panels[0].set_ylabel("depth of the needle")
    figure.colorbar(image, ax=list(panels), label="found first (share)")
    save(figure, path)


def save(figure: Any, path: Path) -> None:  # noqa: ANN401 - optional library
    """Write a figure as PNG.

    Raises:
        InvalidRequest: The file cannot be written.
    """
    with writable(path, "name another file", kind=InvalidRequest):
        figure.savefig(path, format="png")


def _panel(panel: Any, report: NeedleReport, result: MethodResult) -> Any:  # noqa: ANN401 - optional library
    image = panel.imshow(result.shares, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    best = " (recommended)" if result is report.recommended else ""
    panel.set_title(
        f"{result.extension}, {result.ranking}{best}\nmean {result.mean:.0%}", fontsize=9
    )
    panel.set_xticks(range(len(report.lengths)), [f"{n:,}" for n in report.lengths], rotation=45)
    panel.set_yticks(range(len(report.depths)), [f"{depth:.0%}" for depth in report.depths])
    panel.set_xlabel("length (tokens)")
    for row, shares in enumerate(result.shares):
        for column, share in enumerate(shares):
            colour = "black" if share > 0.6 else "white"
            panel.text(column, row, f"{share:.0%}", ha="center", va="center", color=colour)
    return image
