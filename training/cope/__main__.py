"""`python -m training.cope`: trains what is not trained yet, then prints the table.

    python -m training.cope --folder build/cope            three seeds, about four hours of one core
    python -m training.cope --folder build/cope --quick    small, five minutes
    python -m training.cope --folder build/cope --only-table

Stopped at any time, the same command goes on from the last minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import click
import torch

from indexing.errors import MissingDependency
from training.cope import maps
from training.cope.cell import Cell, outcome, run
from training.cope.plan import SEEDS, cells
from training.cope.table import table


@click.command()
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--quick", is_flag=True, help="Shorter sequences, few steps, one seed: five minutes.")
@click.option("--seeds", type=click.IntRange(min=1), default=SEEDS, show_default=True)
@click.option("--task", "tasks", multiple=True, help="Only these.  [default: all]")
@click.option("--only-table", is_flag=True, help="Train nothing; print what is there.")
@click.option("--no-maps", is_flag=True, help="Draw no attention maps.")
def main(
    folder: Path, quick: bool, seeds: int, tasks: tuple[str, ...], only_table: bool, no_maps: bool
) -> None:
    """The error of absolute, rotary and contextual positions on CoPE's tasks."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [
        cell for cell in cells(quick=quick, seeds=seeds) if not tasks or cell.task.name in tasks
    ]
    if not wanted:
        raise click.BadParameter(f"no task of these: {', '.join(tasks)}")
    for cell in () if only_table else wanted:
        found = run(cell, folder, click.echo)
        errors = ", ".join(f"{name or 'as trained'} {x:.1%}" for name, x in found.errors.items())
        click.echo(f"{cell.name}: error {errors} ({found.seconds:.0f} s)")
    shown = table(wanted, folder)
    click.echo(shown)
    (folder / "table.md").write_text(shown + "\n", "utf-8")
    if not no_maps:
        try:
            _draw(wanted, folder)
        except MissingDependency as error:  # the table stands without pictures
            click.echo(f"no attention maps: {error}", err=True)


def _draw(wanted: Sequence[Cell], folder: Path) -> None:
    """A picture for each task, of the first seed."""
    first = [cell for cell in wanted if cell.seed == 0 and outcome(cell, folder)]
    for name, some in groupby(first, key=lambda cell: cell.task.name):
        maps.draw(list(some), folder, folder / f"{name}.png")


if __name__ == "__main__":
    main()
