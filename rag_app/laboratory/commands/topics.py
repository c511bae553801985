"""`rag-app evaluate topics`. Heavy imports wait until it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rag_app.cli.option_types import AnyPath, CorpusPlace
from rag_app.cli.options import print_result, with_json
from rag_app.cli.terminal import notify


@click.command()
@click.option("--data", type=AnyPath, required=True, help="QMSum's .json or .jsonl, or a folder.")
@click.option(
    "--fitting", is_flag=True, help="Measure on the meetings that parameters were fitted on."
)
@click.option(
    "--corpus",
    "folder",
    type=CorpusPlace(),
    help="Keep the encoded documents here, and use them if they are.  [default: user's cache]",
)
@with_json
def topics(data: Path, fitting: bool, folder: Path | None, as_json: bool) -> None:
    """Topics of overviews against those people marked: Pk and WindowDiff, beside TextTiling."""
    from rag_app.laboratory.evaluation.segmentation import topics as measuring

    report = measuring.evaluate(
        data,
        fitting=fitting,
        folder=folder,
        notify=notify,
    ).as_dict()
    print_result(as_json, report, lambda: _say(report))


def _say(report: dict[str, Any]) -> None:
    from rag_app.laboratory.evaluation.table import grid

    rows = [
        [
            name,
            "{:.1f} ({:.1f} to {:.1f})".format(
                *(100 * value for value in (each["pk"], *each["pk_interval"]))
            ),
            f"{100 * each['window_diff']:.1f}",
            f"{each['segments']:.1f}",
        ]
        for name, each in report["methods"].items()
    ]
    header = [f"{report['meetings']} meetings, {report['segments']:.1f} topics", "Pk (95 %)"]
    click.echo(grid([*header, "WindowDiff", "topics"], rows))
