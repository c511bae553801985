"""Accuracy by length over many runs: a table, and a picture.

    rag-app evaluate table --task passkey --lengths 2048 --method pi:2048/dense --json > a.json
    rag-app evaluate table --task passkey --lengths 4096 --method pi:4096/dense --json > b.json
    python training/rope/lengths.py a.json b.json --plot absolute.png

Runs of the same encoder, method and number of documents are one line, also where the target grows
with the texts (`pi:T` above). Accuracy at 1, in percent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from indexing.encoder.fingerprint import Fingerprint
from rag_app.laboratory.evaluation.longembed import Report, TaskResult
from rag_app.laboratory.evaluation.pictures.length_plot import draw
from rag_app.laboratory.evaluation.table import Row, grid

_MEAN = ("256", "512", "1024", "2048")


@dataclass(frozen=True)
class Line:
    """A method of an encoder over so many documents.

    Attributes:
        model: The encoder.
        extension: The method.
        documents: How many there are of each length.
        methods: As the runs name it, one for each target.
        reports: By task, the parts of all runs.
    """

    model: str
    extension: str
    documents: int
    methods: set[str] = field(default_factory=set)
    reports: dict[str, Report] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Method and target, which is T where there are several."""
        if len(self.methods) > 1:
            return f"{self.extension}:T"
        return next(iter(self.methods)).removesuffix("/dense")


@click.command()
@click.argument("files", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw it, as PNG.")
@click.option("--title", default="", help="Of the picture.")
def main(files: tuple[Path, ...], plot: Path | None, title: str) -> None:
    """Print the tables of the runs in FILES."""
    lines = join(json.loads(path.read_text("utf-8")) for path in files)
    for task in sorted({task for line in lines for task in line.reports}, reverse=True):
        click.echo(table(lines, task) + "\n")
    if plot:
        rows: list[Row] = [Row(line.name, dict(line.reports)) for line in lines]
        draw(rows, title, plot)


def join(runs: Iterable[dict[str, Any]]) -> list[Line]:
    """The lines of what `rag-app evaluate table --json` has printed, in their order.

    Raises:
        click.ClickException: A line has two results for the same length.
    """
    found: dict[tuple[str, str, int], Line] = {}
    for row in (row for run in runs for row in run["rows"]):
        for task, report in row["tasks"].items():
            fingerprint = Fingerprint(**report["fingerprint"])
            for length, part in report["lengths"].items():
                key = fingerprint.model, fingerprint.extension, part["documents"]
                line = found.setdefault(key, Line(*key))
                line.methods.add(row["method"])
                parts = line.reports.setdefault(task, Report(task, fingerprint, "dense", {})).parts
                if parts.setdefault(length, _result(part)).acc_at_1 != part["acc_at_1"]:
                    raise click.ClickException(f"two results: {row['method']}, {task}, {length}")
    return list(found.values())


def _result(part: dict[str, Any]) -> TaskResult:
    return TaskResult({}, part["ndcg_at_10"], part["acc_at_1"], part["encoded"], part["seconds"])


def table(lines: Iterable[Line], task: str) -> str:
    """A row for each line, a column for each length, and the mean over 256 to 2,048 tokens."""
    own = [line for line in lines if task in line.reports]
    lengths = sorted({x for line in own for x in line.reports[task].parts}, key=int)
    rows = []
    for line in own:
        found = {x: 100 * part.acc_at_1 for x, part in line.reports[task].parts.items()}
        mean = f"{fmean(found[x] for x in _MEAN):.1f}" if found.keys() >= set(_MEAN) else ""
        cells = [f"{found[x]:.0f}" if x in found else "" for x in lengths]
        rows.append([line.model, f"`{line.name}`", str(line.documents), *cells, mean])
    head = [f"{task} {int(x):,}" for x in lengths]
    return grid(["encoder", "method", "documents", *head, "mean of 256 to 2,048"], rows)


if __name__ == "__main__":
    main()
