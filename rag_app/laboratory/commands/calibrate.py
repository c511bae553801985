"""`rag-app calibrate`. Heavy imports wait until it is called."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.errors import InvalidRequest
from rag_app.cli.option_types import AnyPath, CorpusPlace, RenamedOption, numbers
from rag_app.cli.options import open_corpus, print_result, with_json, with_parts
from rag_app.cli.terminal import notify, say

if TYPE_CHECKING:
    from generator.lm.calibration_record import CalibrationRecord
    from generator.parts import Parts
    from rag_app.laboratory.calibration.ms_poe import Calibration, CalibrationSettings


_SHARES = (0.02, 0.05, 0.1)


@click.command()
@click.option(
    "--model",
    "name",
    help="Language model: packaged name, folder or hub name.  [default: packaged]",
)
@click.option(
    "--part", type=click.Choice(["positions", "answers", "both", "abstention"]), default="both",
    show_default=True,
    help="What to calibrate: Ms-PoE and LPES (positions), generated answers, or both; or when a "
    "corpus does not answer (abstention), for --withhold.",
)  # fmt: skip
@click.option(
    "--method", "methods", type=click.Choice(["ms-poe", "lpes"]), multiple=True,
    help="How positions may be rescaled: by head or by layer; may be repeated.  [default: both]",
)  # fmt: skip
@click.option(
    "--corpus", "folder", type=CorpusPlace(),
    help="Build the position probes from this corpus, or calibrate its abstention.  "
    "[default: the sample documents]",
)  # fmt: skip
@click.option(
    "--lengths", callback=numbers(), help="Tokens of evidence, separated by commas.  [default: 800]"
)
@click.option(
    "--tuning-probes", cls=RenamedOption, former="--searched",
    type=click.IntRange(min=1, max=144), default=4, show_default=True,
    help="Probes of each kind and length on which settings are selected.",
)  # fmt: skip
@click.option(
    "--test-probes", cls=RenamedOption, former="--judged",
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
    help="Questions to answer, as for `evaluate answers`, or those rated on the page.  [default: "
    "the sample questions]",
)  # fmt: skip
@click.option("--questions", type=click.IntRange(min=1), help="Maximum number of these questions.")
@with_parts
@with_json
def calibrate(
    name: str | None,
    part: str,
    methods: tuple[str, ...],
    folder: Path | None,
    lengths: tuple[int, ...] | None,
    tuning_probes: int,
    test_probes: int,
    positions: int,
    seed: int,
    plot: Path | None,
    data: Path | None,
    questions: int | None,
    parts: Parts,
    as_json: bool,
) -> None:
    """Measure which settings suit a language model; `ask` uses them from then on.

    Two parts: does it help to rescale positions, by head (Ms-PoE) or by layer (LPES), to find
    evidence in the middle of a prompt, and are its generated answers faithful enough to be the
    default? When stopped, the same command resumes.

    A third part is of a corpus: below which probability its questions are withheld (abstention), so
    that `--withhold 0.05` withholds at most one answerable question in twenty of the kind that
    --data has: name questions of your own about that corpus, or those rated on the page.
    """
    if part == "abstention":
        _abstention(folder, data, parts, as_json)
        return
    if plot:
        from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib

        require_matplotlib()
    from indexing.models.files import DEFAULT_GENERATOR
    from rag_app.laboratory.calibration.ms_poe import CalibrationSettings

    model = name or DEFAULT_GENERATOR
    values: dict[str, Any] = {}
    reports: list[Callable[[], None]] = []
    if part != "answers":
        default = CalibrationSettings()
        settings = CalibrationSettings(
            lengths or default.lengths, tuning_probes, test_probes, positions, seed,
            methods or default.methods,
        )  # fmt: skip
        calibration, path = _positions(model, settings, folder, plot)
        values = {**calibration.as_dict(), "kept": str(path)}
        reports.append(lambda: _print_positions(calibration, path))
    if part != "positions":
        record, file = _answers(model, data, questions)
        values |= {"answer": asdict(record), "kept": str(file)}
        reports.append(lambda: _print_answers(record, file))

    def print_text() -> None:
        for report in reports:
            report()

    print_result(as_json, values, print_text)


def _positions(
    name: str, settings: CalibrationSettings, folder: Path | None, plot: Path | None
) -> tuple[Calibration, Path]:
    from generator.lm.calibration_record import save_record
    from generator.lm.causal_lm import CausalModel
    from generator.lm.language_model import needs_internals
    from indexing.models.server.server_name import is_remote
    from rag_app.laboratory.calibration.ms_poe import calibrate as run
    from rag_app.laboratory.datasets.probes import corpus_haystack

    if is_remote(name):
        raise needs_internals("Ms-PoE", name, "--part answers")
    model = CausalModel.load(name, notify=notify)
    name = f"{Path(model.name).name}-{model.revision}-{model.dtype}"
    calibration = run(model, corpus_haystack(folder), settings, cache=_score_file(name))
    if plot:
        from rag_app.laboratory.evaluation.pictures.position_plot import draw

        draw(f"{model.name}, held-out probes", calibration.places, calibration.curves, plot)
        notify(f"plot: {plot}")
    return calibration, save_record(calibration.verdict)


def _answers(name: str, data: Path | None, questions: int | None) -> tuple[CalibrationRecord, Path]:
    from generator.lm.calibration_record import save_record
    from generator.settings import GeneratorSettings
    from rag_app.laboratory.calibration import faithfulness
    from rag_app.laboratory.datasets.haystack import SAMPLES
    from rag_app.laboratory.evaluation.cache_files import evaluation_cache

    file = data or SAMPLES / "questions.jsonl"
    if not file.exists():
        raise InvalidRequest(f"{file}: no such file; name a file of questions with --data")
    folder = evaluation_cache() / f"answers-{file.resolve().parent.name}"
    record = faithfulness.measure(
        file,
        GeneratorSettings(model=name),
        folder=folder,
        cache=_score_file(f"{Path(name).name}-answers"),
        questions=questions,
        notify=notify,
    )
    return record, save_record(record)


def _abstention(folder: Path | None, data: Path | None, parts: Parts, as_json: bool) -> None:
    from generator.extractive.conformal import save_abstention
    from generator.settings import GeneratorSettings
    from rag_app.laboratory.calibration.abstention import calibrate as run
    from rag_app.progress import steps

    if folder is None:
        raise InvalidRequest("abstention is calibrated for a corpus; name it with --corpus")
    with (
        open_corpus(folder, generator=GeneratorSettings(parts=parts)) as corpus,
        steps("Asking") as progress,
    ):
        record = run(corpus, data, progress=progress)
        path = save_abstention(record, corpus.folder)
    shares = {str(share): record.threshold(share) for share in _SHARES}
    values = {**asdict(record), "thresholds": shares, "kept": str(path)}

    def print_text() -> None:
        for share in _SHARES:
            say(record.describe(share))
        say(f"Saved in {path}")

    print_result(as_json, values, print_text)


def _score_file(name: str) -> Path:
    """The file that caches the scores of a model."""
    from indexing.models.cached_folder import cache_dir

    safe = re.sub(r"[^\w.-]+", "_", name)
    return cache_dir() / "calibration" / f"{safe[:150]}.jsonl"


def _print_answers(record: CalibrationRecord, path: Path) -> None:
    from rag_app.laboratory.evaluation.table import grid

    columns = ("questions", "supported", "rightly_withheld", "wrongly_withheld")
    rows = [
        [mode, *(_cell(figures[name]) for name in columns)]
        for mode, figures in record.answers.items()
    ]
    say(grid(["answers", *(name.replace("_", " ") for name in columns)], rows) + "\n")
    say(f"Verdict: {record.answer}. {record.answer_reason}.")
    say(f"Saved in {path}")


def _cell(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.1%}"


def _print_positions(calibration: Calibration, path: Path) -> None:
    from generator.lm.ms_poe_policy import describe
    from rag_app.laboratory.evaluation.table import grid

    rows = [
        [describe(one.method), str(one.probes)]
        + [f"{value:+.3f}" for value in (one.gain, one.worst, one.least)]
        for one in calibration.trials
    ]
    say("Gain in log-probability of the answers, on the tuning probes:\n")
    say(grid(["settings", "probes", "mean", "at worst position", "smallest"], rows) + "\n")
    head = ["held out", *(f"{place:.0%}" for place in calibration.places), "mean", "worst"]
    rows = [
        [one.method, *(f"{each.value:.1%}" for each in (*one.accuracy, one.mean, one.worst))]
        for one in calibration.curves
    ]
    say(grid(head, rows) + "\n")
    say(f"Verdict: {'on' if calibration.verdict.method else 'off'}. {calibration.verdict.reason}.")
    say(f"Saved in {path}")
