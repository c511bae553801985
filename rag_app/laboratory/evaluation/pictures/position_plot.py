"""The picture of accuracy by position: one panel a length, one line a method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib, save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_app.laboratory.evaluation.positions import Curve


def draw(title: str, places: Sequence[float], curves: Sequence[Curve], path: Path) -> None:
    """Write the picture as PNG, without a display; bands are bootstrap intervals.

    Raises:
        MissingDependency: matplotlib is not installed.
        InvalidRequest: The file cannot be written.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    lengths = list(dict.fromkeys(curve.length for curve in curves))
    figure = Figure(figsize=(1 + 3.2 * len(lengths), 3.2), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(lengths), squeeze=False, sharey=True)[0]
    for panel, length in zip(panels, lengths, strict=True):
        for curve in (one for one in curves if one.length == length):
            values = [estimate.value for estimate in curve.accuracy]
            (line,) = panel.plot(places, values, marker="o", label=curve.method)
            panel.fill_between(
                places,
                [estimate.low for estimate in curve.accuracy],
                [estimate.high for estimate in curve.accuracy],
                color=line.get_color(),
                alpha=0.15,
            )
        panel.set_title(f"about {length:,} tokens" if length else "from a file", fontsize=9)
        panel.set_xlabel("place of the evidence")
        panel.set_xticks(list(places), [f"{place:.0%}" for place in places])
        panel.set_ylim(-0.03, 1.03)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy")
    panels[0].legend(fontsize=8)
    figure.suptitle(title, fontsize=10)
    save(figure, path)
