"""`python -m campaign`: every attack, and a table of what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from campaign import batches, damage, full_disk, fuzz, growth, kills, proofs, uploads
from campaign.result import Result
from rag_app.progress import steps

# Name: attack, trials of an hour.
ATTACKS: dict[str, tuple[Callable[..., Result], int]] = {
    "fuzz": (fuzz.attack, 100_000),
    "kills": (kills.attack, 1_000),
    "batches": (batches.attack, 30),
    "uploads": (uploads.attack, 200),
    "full-disk": (full_disk.attack, 100),
    "growth": (growth.attack, 500),
    "full-growth": (growth.full_disks, 100),
    "database": (partial(damage.attack, part="databases"), 500),
    "index": (partial(damage.attack, part="index files"), 200),
    "proofs": (proofs.attack, 1_000),
    "manifest": (partial(damage.attack, part="manifests"), 200),
}
HEADER = "| attack | trials | failures | how they ended |\n|---|---|---|---|"


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(ATTACKS)))
@click.option("--share", type=float, default=1.0, show_default=True, help="Of the trials.")
@click.option("--seed", type=int, default=0, show_default=True)
def main(names: tuple[str, ...], share: float, seed: int) -> None:
    """Attack the program with every attack, or those named; exit status 1 if a promise broke."""
    click.echo(HEADER)
    failures: list[str] = []
    for name in names or tuple(ATTACKS):
        run, trials = ATTACKS[name]
        began = time.monotonic()
        planned = max(1, round(share * trials))
        with TemporaryDirectory() as folder, steps(name) as advance:
            result = run(Path(folder), trials=planned, seed=seed, progress=advance)
        failures += result.failures
        click.echo(result.row())
        click.echo(f"{name}: {time.monotonic() - began:,.0f} s", err=True)
    for failure in failures:
        click.echo(failure, err=True)
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main(prog_name="python -m campaign")
