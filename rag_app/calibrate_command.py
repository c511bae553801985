"""`rag-app calibrate`. Heavy imports wait until it is called."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli import print_result, with_json
from rag_app.evaluation.position_command import numbers

if TYPE_CHECKING:
    from rag_app.calibration import Calibration


@click.command()
@click.option("--model", "name", help="Packaged name, folder or hub name.  [default: packaged]")
@click.option(
    "--corpus", "folder", type=click.Path(path_type=Path, file_okay=False),
    help="Make the probes of this corpus.  [default: the sample documents]",
)  # fmt: skip
@click.option("--lengths", callback=numbers, help="Tokens of evidence.  [default: 800]")
@click.option(
    "--searched", type=click.IntRange(min=1, max=144), default=4, show_default=True,
    help="Probes of each kind and length to choose on.",
)  # fmt: skip
@click.option(
    "--judged", type=click.IntRange(min=1, max=144), default=12, show_default=True,
    help="Other probes of each kind and length, to judge on.",
)  # fmt: skip
@click.option("--positions", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw accuracy by place into a PNG.")
@with_json
def calibrate(  # noqa: PLR0913, PLR0917 - one argument for each flag
    name: str | None,
    folder: Path | None,
    lengths: tuple[int, ...] | None,
    searched: int,
    judged: int,
    positions: int,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Find out whether Ms-PoE helps a language model; `ask` goes by the outcome from then on.

    May be stopped at any time: the same command goes on where it was.
    """
    if plot:
        from rag_app.evaluation.heatmap import require_matplotlib

        require_matplotlib()
    from generator.model import CausalModel
    from generator.verdict import keep
    from indexing.gguf import cache_folder
    from indexing.weights import DEFAULT_GENERATOR
    from rag_app.calibration import Plan
    from rag_app.calibration import calibrate as run
    from rag_app.evaluation.probes import text_of

    model = CausalModel.load(name or DEFAULT_GENERATOR, notify=_notify)
    plan = Plan(lengths or Plan().lengths, searched, judged, positions, seed)
    of = re.sub(r"[^\w.-]+", "_", f"{Path(model.name).name}-{model.revision}-{model.dtype}")
    kept = cache_folder() / "calibration" / f"{of[:150]}.jsonl"
    found = run(model, text_of(folder), plan, kept=kept)
    path = keep(found.verdict)
    if plot:
        from rag_app.evaluation.position_plot import draw

        draw(f"{model.name}, probes held out", found.places, found.curves, plot)
        _notify(f"the picture is in {plot}")
    print_result(as_json, {**found.as_dict(), "kept": str(path)}, lambda: _say(found, path))


def _notify(line: str) -> None:
    click.echo(line, err=True)


def _say(found: Calibration, path: Path) -> None:
    from generator.positions import spelled
    from rag_app.evaluation.table import grid

    rows = [
        [spelled(one.method), str(one.probes)]
        + [f"{value:+.3f}" for value in (one.gain, one.worst, one.least)]
        for one in found.trials
    ]
    click.echo("Gain in log-probability of the answers, on the probes to choose on:\n")
    click.echo(grid(["settings", "probes", "mean", "at off's worst", "least"], rows) + "\n")
    head = ["held out", *(f"{place:.0%}" for place in found.places), "mean", "worst"]
    rows = [
        [one.method, *(f"{each.value:.1%}" for each in (*one.accuracy, one.mean, one.worst))]
        for one in found.curves
    ]
    click.echo(grid(head, rows) + "\n")
    click.echo(f"Verdict: {'on' if found.verdict.method else 'off'}. {found.verdict.reason}.")
    click.echo(f"Kept in {path}")
