"""The picture of accuracy by length: one panel a generated task, one line a method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_app.laboratory.evaluation.longembed import GENERATED, Report
from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib, save
from rag_app.laboratory.evaluation.table import Row


def curves(rows: Sequence[Row], task: str) -> dict[str, dict[int, float]]:
    """By method: accuracy at 1 by length, where the method was measured on the task."""
    reports = {row.method: row.reports.get(task) for row in rows}
    return {
        method: {int(length): part.acc_at_1 for length, part in report.parts.items()}
        for method, report in reports.items()
        if isinstance(report, Report)
    }


def draw(rows: Sequence[Row], title: str, path: Path) -> None:
    """Write the picture as PNG, without a display.

    Raises:
        MissingDependency: matplotlib is not installed.
        InvalidRequest: The file cannot be written.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    tasks = {task: curves(rows, task) for task in GENERATED}
    tasks = {task: lines for task, lines in tasks.items() if lines}
    figure = Figure(figsize=(1.5 + 3.6 * len(tasks), 3.6), dpi=130, layout="constrained")
    panels = figure.subplots(1, max(1, len(tasks)), squeeze=False, sharey=True)[0]
    for panel, (task, lines) in zip(panels, tasks.items(), strict=False):
        for number, (method, values) in enumerate(lines.items()):
            style = ("-", "--", ":")[number // 7 % 3]
            panel.plot(list(values), list(values.values()), style, marker="o", ms=3, label=method)
        lengths = sorted({length for values in lines.values() for length in values})
        panel.set_xscale("log", base=2)
        panel.set_xticks(lengths, [f"{length:,}" for length in lengths])
        panel.tick_params(labelsize=8)
        panel.set_title(task, fontsize=9)
        panel.set_xlabel("tokens of a document")
        panel.set_ylim(-0.03, 1.03)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy at 1")
    panels[-1].legend(fontsize=7, loc="upper right")
    figure.suptitle(title, fontsize=10)
    save(figure, path)
