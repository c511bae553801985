"""`rag-app evaluate temperature`. Heavy imports wait until it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.evaluate_answers import with_questions
from rag_app.cli.options import print_result, with_json

if TYPE_CHECKING:
    from rag_app.evaluation.temperature import TemperatureReport


@click.command()
@with_questions
@with_json
def temperature(data: Path, questions: int | None, folder: Path | None, as_json: bool) -> None:
    """What turns retrieval scores into the probabilities that decodings over passages weigh by."""
    from rag_app.evaluation import temperature as measuring

    report = measuring.evaluate(
        data,
        folder=folder,
        questions=questions,
        notify=lambda line: click.echo(line, err=True),
    )
    print_result(as_json, report.as_dict(), lambda: _say(report))


def _say(report: TemperatureReport) -> None:
    from rag_app.evaluation.table import grid

    ways = list(report.log_share)
    rows = [
        [
            f"{value:g}{' (best)' if value == report.best else ''}",
            *(f"{report.log_share[way][value]:.3f}" for way in ways),
            f"{pooled:.3f}",
        ]
        for value, pooled in report.pooled.items()
    ]
    heads = [f"{way} ({report.with_gold[way]})" for way in ways]
    click.echo(
        f"Mean log share of gold among {report.passages} passages; questions with gold in ()"
    )
    click.echo(grid(["temperature", *heads, "pooled"], rows))
