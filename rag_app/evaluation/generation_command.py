"""`rag-app evaluate generation`. Heavy imports wait until it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rag_app.cli.options import numbers, print_result, with_json

if TYPE_CHECKING:
    from rag_app.evaluation.generation import GenerationReport

PROMPTS = (1000, 2000)


@click.command()
@click.option("--generator", help="Packaged name, folder or hub name.  [default: packaged]")
@click.option("--prompts", callback=numbers(), help="In tokens.  [default: 1000,2000]")
@click.option("--tokens", type=click.IntRange(min=2), default=32, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@with_json
def generation(
    generator: str | None,
    prompts: tuple[int, ...] | None,
    tokens: int,
    rounds: int,
    as_json: bool,
) -> None:
    """How quickly a model reads and writes, beside transformers, and llama.cpp if it is here."""
    from indexing.models.files import DEFAULT_GENERATOR
    from rag_app.evaluation import generation as measuring

    report = measuring.evaluate(
        generator or DEFAULT_GENERATOR,
        prompts=prompts or PROMPTS,
        tokens=tokens,
        rounds=rounds,
        notify=lambda line: click.echo(line, err=True),
    )
    print_result(as_json, report.as_dict(), lambda: _say(report))


def _say(report: GenerationReport) -> None:
    from rag_app.evaluation.table import grid

    rows = [
        [rate.engine, f"{rate.prompt:,}", f"{rate.read:,.0f}", f"{rate.written:,.1f}"]
        for rate in report.rates
    ]
    click.echo(grid(["", "prompt", "tokens read a second", "written"], rows))
    click.echo(f"{report.threads} threads, {report.dtype}; single tokens: {report.steps}")
