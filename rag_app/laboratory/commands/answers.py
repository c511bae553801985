"""`rag-app evaluate answers`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_app.cli.option_types import DECODINGS, AnyPath, CorpusPlace, together
from rag_app.cli.options import print_result, with_examples, with_json, with_parts, with_withhold
from rag_app.cli.terminal import notify, say

if TYPE_CHECKING:
    from generator.parts import Parts

COLUMNS = {
    "ROUGE-1/2/L": ("rouge1", "rouge2", "rougeL"),
    "quoted": ("quoted",),
    "supported": ("supported",),
    "evidence cited": ("evidence_cited",),
    "citations in evidence": ("citations_in_evidence",),
    "citations": ("citations",),
    "wrongly withheld": ("wrongly_withheld",),
    "rightly withheld": ("rightly_withheld",),
    "near misses withheld at 5 %": ("withheld_at_5",),
    "words that answer, F1/exact": ("short_f1", "short_exact"),
    "words": ("words",),
    "seconds": ("seconds",),
}
FORMS = {
    **dict.fromkeys(("rouge1", "rouge2", "rougeL", "words"), ".1f"),
    "citations": ".0f",
    "seconds": ".2f",
}
"""Formats of figures that are not shares."""


with_questions = together(
    click.option(
        "--data",
        type=AnyPath,
        required=True,
        help="QMSum's or SQuAD's file, or your own questions as JSON lines beside their documents.",
    ),
    click.option("--questions", type=click.IntRange(min=1), help="At most so many."),
    click.option(
        "--corpus",
        "folder",
        type=CorpusPlace(),
        help="Keep the indexed documents here, and use them if they are.",
    ),
)


@click.command()
@with_questions
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["quote", "free", "lead", "oracle", "reference"]),
    help="Ways to answer.  [default: all]",
)
@click.option("--generator", help="Language model: packaged, folder or hub name.")
@click.option("--decoding", type=click.Choice(DECODINGS))
@with_examples
@with_parts
@with_withhold
@click.option("--skip", type=click.IntRange(min=0), default=0, help="Leave out the first.")
@with_json
def answers(
    data: Path,
    kinds: tuple[str, ...],
    generator: str | None,
    decoding: str | None,
    examples: Any,  # noqa: ANN401 - worked questions
    parts: Parts,
    withhold: float | None,
    questions: int | None,
    skip: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Answers against references: ROUGE, support, citations in evidence, abstention."""
    from generator.settings import GeneratorSettings
    from rag_app.laboratory.evaluation import answers as measuring

    default = GeneratorSettings()
    report = measuring.evaluate(
        data,
        kinds=kinds or measuring.KINDS,
        settings=replace(
            default,
            model=generator or default.model,
            decoding=decoding or default.decoding,
            examples=examples,
            parts=parts,
            withhold=withhold,
        ),
        folder=folder,
        questions=questions,
        skip=skip,
        notify=notify,
    )
    print_result(as_json, report, lambda: _say(report))


def _say(report: dict[str, Any]) -> None:
    from rag_app.laboratory.evaluation.table import grid

    rows = [
        [kind, *("/".join(_cell(figures, name) for name in names) for names in COLUMNS.values())]
        for kind, figures in report["answers"].items()
    ]
    say(grid([f"{report['questions']} questions", *COLUMNS], rows))


def _cell(figures: dict[str, float | None], name: str) -> str:
    value = figures[name]
    if value is None:
        return "-"
    if name in FORMS:
        return format(value, FORMS[name])
    return f"{100 * value:.1f} %"
