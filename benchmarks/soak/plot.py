"""Curves over time, one panel below the other, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import cycle

COLOURS = ("#0f766e", "#b45309", "#7c3aed", "#be123c", "#475569", "#0369a1", "#65a30d", "#db2777")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one name, joined by a line or not."""

    name: str
    points: Sequence[Point]
    joined: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """Series with a common scale, which begins at 0 or is logarithmic."""

    title: str
    series: Sequence[Series]
    logarithmic: bool = False


def draw(panels: Sequence[Panel], *, minutes: float, marks: Sequence[float] = ()) -> str:
    """An SVG file.

    Args:
        panels: From top to bottom; x in minutes.
        minutes: The length of the time axis.
        marks: Minutes that a vertical line marks in each panel.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 2 * len(panels)), layout="constrained")
    for panel, axes in zip(panels, figure.subplots(len(panels), squeeze=False)[:, 0], strict=True):
        for series, colour in zip(panel.series, cycle(COLOURS), strict=False):
            x, y = zip(*series.points, strict=True) if series.points else ((), ())
            style = "-" if series.joined else "."
            axes.plot(x, y, style, color=colour, markersize=3, label=series.name)
        for minute in marks:
            axes.axvline(minute, color="#a8a29e", linestyle="--")
        if panel.logarithmic:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlim(0, minutes)
        axes.grid(axis="y", color="#e7e5e4")
        axes.set_title(panel.title, loc="left")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    written = StringIO()
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(written, format="svg")
    return written.getvalue()
