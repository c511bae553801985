"""`rag-app evaluate`: the commands that measure. Heavy imports wait until one is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.errors import InvalidRequest
from rag_app.cli.option_types import AnyPath, CorpusPlace, ExtensionName, numbers, together
from rag_app.cli.options import print_result, with_corpus, with_encoder, with_json
from rag_app.cli.request_options import field_option
from rag_app.cli.terminal import notify, say
from rag_app.laboratory.commands.answers import answers
from rag_app.laboratory.commands.positions import lost_in_the_middle
from rag_app.laboratory.commands.topics import topics
from rag_app.request_fields import request_field

if TYPE_CHECKING:
    from indexing.encoder.settings import EncoderSettings
    from rag_app.laboratory.evaluation.longembed import Method

TASKS = ["qmsum", "passkey", "needle", "narrativeqa", "summscreenfd", "2wikimqa"]

with_folder = click.option(
    "--corpus",
    "folder",
    type=CorpusPlace(),
    help="Keep the encoded documents here, and use them if they are.  [default: user's cache]",
)

with_generated = together(
    click.option("--lengths", callback=numbers(), help="Of generated documents, in tokens."),
    click.option("--haystack", type=AnyPath, help="Documents to hide needles in."),
    click.option("--seed", type=int, default=0, show_default=True),
    click.option(
        "--documents",
        type=click.IntRange(1, 100),
        default=100,
        show_default=True,
        help="Generated of each length; fifty of them at most are asked about.",
    ),
)


@click.group()
def evaluate() -> None:
    """Measure retrieval and answers, on benchmarks and on your own documents."""


evaluate.add_command(lost_in_the_middle)


@evaluate.command()
@click.option("--task", type=click.Choice(TASKS), required=True)
@click.option("--data", type=AnyPath, help="QMSum's .json or .jsonl, or a folder of them.")
@with_generated
@with_encoder
@field_option(request_field("ranking"))
@with_folder
@with_json
def longembed(
    task: str,
    data: Path | None,
    lengths: tuple[int, ...] | None,
    haystack: Path | None,
    seed: int,
    documents: int,
    encoder: EncoderSettings | None,
    ranking: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Retrieval of long documents: a task of LongEmbed."""
    from rag_app.laboratory.evaluation import longembed as measuring

    source = measuring.Source(
        data, haystack, lengths or measuring.Source().lengths, seed, documents
    )
    method = _method(encoder, ranking)
    report = measuring.evaluate(task, source, method, folder=folder, notify=notify)
    print_result(as_json, report.as_dict(), lambda: _say_report(report.as_dict()))


@evaluate.command()
@click.option("--data", type=AnyPath, required=True, help="QMSum's .json or .jsonl, or a folder.")
@with_encoder
@field_option(request_field("ranking"))
@with_folder
@with_json
def evidence(
    data: Path,
    encoder: EncoderSettings | None,
    ranking: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Retrieval of the meetings and utterances that answer QMSum's specific queries."""
    from rag_app.laboratory.evaluation import evidence as measuring

    method = _method(encoder, ranking)
    report = measuring.evaluate(data, method, folder=folder, notify=notify)
    print_result(as_json, report.as_dict(), lambda: _say_report(report.as_dict()))


@evaluate.command()
@click.option("--dry-run", is_flag=True, help="Only list them.")
@with_json
def clear(dry_run: bool, as_json: bool) -> None:
    """Remove the encoded documents of past evaluations from the user's cache."""
    from rag_app.laboratory.evaluation import cache_files

    removed, remaining = ([], cache_files.cached_corpora()) if dry_run else cache_files.clear()
    lists = {"removed": removed, "kept": remaining}

    def print_text() -> None:
        for name, corpora in lists.items():
            for each in corpora:
                say(f"{name} {each.folder} ({each.bytes / 1e6:,.1f} MB)")
        if not removed and not remaining:
            say(f"nothing is kept in {cache_files.evaluation_cache()}")

    values = {name: [each.as_dict() for each in corpora] for name, corpora in lists.items()}
    print_result(as_json, values, print_text)


@evaluate.command()
@with_corpus
@click.option(
    "--lengths", callback=numbers(), help="Of the copies, in tokens.  [default: what fits]"
)
@click.option("--depths", callback=numbers(least=0), help="In percent.  [default: 0,25,50,75,100]")
@click.option("--each", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--encoder", help="Packaged name, folder or hub name.  [default: the corpus's]")
@click.option("--extension", "extensions", type=ExtensionName(), multiple=True)
@field_option(request_field("ranking"), multiple=True, default=None, show_default=False)
@click.option("--heatmap", type=AnyPath, default=Path("needle.png"), show_default=True)
@click.option("--no-heatmap", is_flag=True, help="Draw nothing.")
@with_json
def needle(
    folder: Path,
    lengths: tuple[int, ...] | None,
    depths: tuple[int, ...] | None,
    each: int,
    seed: int,
    encoder: str | None,
    extensions: tuple[str, ...],
    ranking: tuple[str, ...],
    heatmap: Path,
    no_heatmap: bool,
    as_json: bool,
) -> None:
    """Hide facts in copies of your own documents: which method finds them, at which depth?"""
    from indexing.encoder.settings import EncoderSettings
    from rag_app.laboratory.evaluation import needle as measuring
    from rag_app.laboratory.evaluation.pictures.heatmap import draw, require_matplotlib

    if not no_heatmap:
        require_matplotlib()
    if depths and not all(0 <= depth <= 100 for depth in depths):
        raise InvalidRequest("depths are percent of a document; ask for numbers from 0 to 100")
    shares = tuple(depth / 100 for depth in depths) if depths else measuring.DEPTHS
    report = measuring.evaluate(
        folder,
        measuring.Grid(lengths or (), shares, each, seed),
        methods=measuring.combine_methods(
            extensions or measuring.EXTENSIONS, ranking or measuring.RANKINGS
        ),
        encoder=EncoderSettings(model=encoder) if encoder else None,
        notify=notify,
    )
    if not no_heatmap:
        draw(report, heatmap)
        notify(f"the heatmap is in {heatmap}")
    print_result(as_json, report.as_dict(), lambda: _say_needles(report))


@evaluate.command()
@click.option(
    "--data",
    type=AnyPath,
    help="QMSum's .json or .jsonl, or a folder of them; or a folder with a folder for each task.",
)
@click.option("--task", "tasks", multiple=True, type=click.Choice([*TASKS, "evidence"]))
@click.option("--longembed", "six", is_flag=True, help="All six tasks, beside published scores.")
@click.option("--method", "methods", multiple=True, metavar="EXTENSION[:TOKENS]/RETRIEVER")
@click.option("--encoder", help="Packaged name, folder or hub name.  [default: packaged]")
@with_generated
@click.option("--out", type=AnyPath, help="Put the tables into this Markdown file.")
@click.option("--plot", type=AnyPath, help="Draw accuracy by length of generated tasks, as PNG.")
@with_json
def table(
    data: Path | None,
    tasks: tuple[str, ...],
    six: bool,
    methods: tuple[str, ...],
    encoder: str | None,
    lengths: tuple[int, ...] | None,
    haystack: Path | None,
    seed: int,
    documents: int,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Methods by tasks, as Markdown."""
    from indexing.encoder.settings import EncoderSettings
    from rag_app.laboratory.evaluation import table as tables
    from rag_app.laboratory.evaluation.longembed import Source
    from rag_app.laboratory.evaluation.pictures import length_plot
    from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib
    from rag_app.laboratory.evaluation.published import LONGEMBED

    if plot:
        require_matplotlib()
    if six:
        tasks, methods = LONGEMBED, methods or tables.LONGEMBED_METHODS
    tasks, methods = tasks or tables.DEFAULT_TASKS, methods or tables.DEFAULT_METHODS
    source = Source(data, haystack, lengths or Source().lengths, seed, documents)
    settings = EncoderSettings(model=encoder) if encoder else EncoderSettings()
    rows = tables.evaluate(methods, tasks, source, encoder=settings, notify=notify)
    section = tables.markdown(rows, tables.command_line(tasks, methods, source, encoder))
    if out:
        tables.write(out, section)
    if plot:
        length_plot.draw(rows, encoder or "the packaged encoder", plot)
        notify(f"the picture is in {plot}")
    print_result(as_json, {"rows": [row.as_dict() for row in rows]}, lambda: say(section))


evaluate.add_command(answers)
evaluate.add_command(topics)


def _method(encoder: EncoderSettings | None, ranking: str) -> Method:
    from indexing.encoder.settings import EncoderSettings
    from rag_app.laboratory.evaluation.longembed import Method

    return Method(encoder or EncoderSettings(), ranking)


def _say_report(values: dict[str, object]) -> None:
    """One value a line; what belongs together, on one line."""
    for name, value in values.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        say(f"{name:22} {', '.join(f'{key} {_short(each)}'.strip() for key, each in parts)}")


def _short(value: object) -> str:
    if isinstance(value, dict):
        names = [key for key in ("ndcg_at_10", "acc_at_1", "recall", "hit") if key in value]
        return "(" + " ".join(f"{key} {value[key]:.3f}" for key in names) + ")"
    return f"{value:.3f}" if isinstance(value, float) else f"{value}"


def _say_needles(report: Any) -> None:  # noqa: ANN401 - the type lives in a heavy module
    from rag_app.laboratory.evaluation.table import grid

    for result in report.results:
        say(f"{result.name}: {result.mean:.1%} found\n")
        rows = [
            [f"depth {depth:.0%}", *(f"{share:.0%}" for share in shares)]
            for depth, shares in zip(report.depths, result.shares, strict=True)
        ]
        say(grid(["", *(f"{length:,} tokens" for length in report.lengths)], rows) + "\n")
    say(f"Recommended for these documents: {report.recommended.name}")
