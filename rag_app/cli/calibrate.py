"""`rag-app calibrate`. Heavy imports wait until it is called."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.errors import InvalidRequest
from rag_app.cli.options import AnyPath, Folder, RenamedOption, numbers, print_result, with_json

if TYPE_CHECKING:
    from generator.lm.calibration_record import CalibrationRecord
    from rag_app.calibration.ms_poe import Calibration, Plan


@click.command()
@click.option(
    "--model",
    "name",
    help="Language model: packaged name, folder or hub name.  [default: packaged]",
)
@click.option(
    "--part", type=click.Choice(["positions", "answers", "both"]), default="both",
    show_default=True,
    help="What to calibrate: Ms-PoE (positions), generated answers, or both.",
)  # fmt: skip
@click.option(
    "--corpus", "folder", type=Folder,
    help="Build the position probes from this corpus.  [default: the sample documents]",
)  # fmt: skip
@click.option(
    "--lengths", callback=numbers(), help="Tokens of evidence, separated by commas.  [default: 800]"
)
@click.option(
    "--tuning-probes", "searched", cls=RenamedOption, former="--searched",
    type=click.IntRange(min=1, max=144), default=4, show_default=True,
    help="Probes of each kind and length on which settings are selected.",
)  # fmt: skip
@click.option(
    "--test-probes", "judged", cls=RenamedOption, former="--judged",
    type=click.IntRange(min=1, max=144), default=12, show_default=True,
    help="Held-out probes of each kind and length on which the selection is tested.",
)  # fmt: skip
@click.option(
    "--positions", type=click.IntRange(min=2), default=5, show_default=True,
    help="Positions of the evidence in a prompt.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--plot", type=AnyPath, help="Plot accuracy by position as a PNG.")
@click.option(
    "--data", type=AnyPath,
    help="Questions to answer, as for `evaluate answers`.  [default: the sample questions]",
)  # fmt: skip
@click.option("--questions", type=click.IntRange(min=1), help="Maximum number of these questions.")
@with_json
def calibrate(
    name: str | None,
    part: str,
    folder: Path | None,
    lengths: tuple[int, ...] | None,
    searched: int,
    judged: int,
    positions: int,
    seed: int,
    plot: Path | None,
    data: Path | None,
    questions: int | None,
    as_json: bool,
) -> None:
    """Measure which settings suit a language model; `ask` uses them from then on.

    Two parts: does Ms-PoE help it to find evidence in the middle of a prompt, and are its generated
    answers faithful enough to be the default? When stopped, the same command resumes.
    """
    if plot:
        from rag_app.evaluation.heatmap import require_matplotlib

        require_matplotlib()
    from indexing.models.files import DEFAULT_GENERATOR
    from rag_app.calibration.ms_poe import Plan

    model = name or DEFAULT_GENERATOR
    values: dict[str, Any] = {}
    says: list[Callable[[], None]] = []
    if part != "answers":
        plan = Plan(lengths or Plan().lengths, searched, judged, positions, seed)
        found, path = _positions(model, plan, folder, plot)
        values = {**found.as_dict(), "kept": str(path)}
        says.append(lambda: _say(found, path))
    if part != "positions":
        verdict, kept = _answers(model, data, questions)
        values |= {"answer": asdict(verdict), "kept": str(kept)}
        says.append(lambda: _say_answers(verdict, kept))

    def say() -> None:
        for each in says:
            each()

    print_result(as_json, values, say)


def _positions(
    name: str, plan: Plan, folder: Path | None, plot: Path | None
) -> tuple[Calibration, Path]:
    from generator.lm.calibration_record import save_record
    from generator.lm.causal_lm import CausalModel
    from generator.lm.model_name import is_remote, needs_internals
    from rag_app.calibration.ms_poe import calibrate as run
    from rag_app.datasets.probes import corpus_haystack

    if is_remote(name):
        raise needs_internals("Ms-PoE", name, "--part answers")
    model = CausalModel.load(name, notify=_notify)
    of = f"{Path(model.name).name}-{model.revision}-{model.dtype}"
    found = run(model, corpus_haystack(folder), plan, kept=_scores(of))
    if plot:
        from rag_app.evaluation.position_plot import draw

        draw(f"{model.name}, held-out probes", found.places, found.curves, plot)
        _notify(f"plot: {plot}")
    return found, save_record(found.verdict)


def _answers(name: str, data: Path | None, questions: int | None) -> tuple[CalibrationRecord, Path]:
    from generator.lm.calibration_record import save_record
    from generator.settings import GeneratorSettings
    from rag_app.calibration import faithfulness
    from rag_app.datasets.haystack import SAMPLES
    from rag_app.evaluation.cache_files import evaluation_cache

    chosen = data or SAMPLES / "questions.jsonl"
    if not chosen.exists():
        raise InvalidRequest(f"{chosen}: no such file; name a file of questions with --data")
    folder = evaluation_cache() / f"answers-{chosen.resolve().parent.name}"
    verdict = faithfulness.measure(
        chosen,
        GeneratorSettings(model=name),
        folder=folder,
        kept=_scores(f"{Path(name).name}-answers"),
        questions=questions,
        notify=_notify,
    )
    return verdict, save_record(verdict)


def _scores(of: str) -> Path:
    """The file that caches the scores of a model."""
    from indexing.models.cache_dir import cache_dir

    safe = re.sub(r"[^\w.-]+", "_", of)
    return cache_dir() / "calibration" / f"{safe[:150]}.jsonl"


def _say_answers(verdict: CalibrationRecord, path: Path) -> None:
    from rag_app.evaluation.table import grid

    columns = ("questions", "supported", "rightly_withheld", "wrongly_withheld")
    rows = [
        [mode, *(_cell(figures[name]) for name in columns)]
        for mode, figures in verdict.answers.items()
    ]
    click.echo(grid(["answers", *(name.replace("_", " ") for name in columns)], rows) + "\n")
    click.echo(f"Verdict: {verdict.answer}. {verdict.answer_reason}.")
    click.echo(f"Saved in {path}")


def _cell(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.1%}"


def _notify(line: str) -> None:
    click.echo(line, err=True)


def _say(found: Calibration, path: Path) -> None:
    from generator.lm.ms_poe_policy import describe
    from rag_app.evaluation.table import grid

    rows = [
        [describe(one.method), str(one.probes)]
        + [f"{value:+.3f}" for value in (one.gain, one.worst, one.least)]
        for one in found.trials
    ]
    click.echo("Gain in log-probability of the answers, on the tuning probes:\n")
    click.echo(grid(["settings", "probes", "mean", "at worst position", "smallest"], rows) + "\n")
    head = ["held out", *(f"{place:.0%}" for place in found.places), "mean", "worst"]
    rows = [
        [one.method, *(f"{each.value:.1%}" for each in (*one.accuracy, one.mean, one.worst))]
        for one in found.curves
    ]
    click.echo(grid(head, rows) + "\n")
    click.echo(f"Verdict: {'on' if found.verdict.method else 'off'}. {found.verdict.reason}.")
    click.echo(f"Saved in {path}")
