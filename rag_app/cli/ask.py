"""`rag-app ask`. Nothing heavy is imported before it is called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_app.cli.option_types import AnyFile
from rag_app.cli.options import (
    open_corpus,
    print_result,
    suited,
    with_corpus,
    with_examples,
    with_generation,
    with_json,
    with_missing_shards,
)
from rag_app.cli.request_options import Fields, with_fields
from rag_app.request_fields import ask_request

if TYPE_CHECKING:
    from generator.answer import Mode
    from generator.settings import GeneratorSettings
    from rag_app.corpus.shards.manifest import MissingShards


@click.command()
@click.argument("question")
@with_fields("command", "ask")
@with_generation
@click.option(
    "--explain", is_flag=True, help="Show the settings used, and the weight of each passage."
)
@with_examples
@click.option(
    "--check-position", is_flag=True,
    help="Check whether the answer changes with the order of the evidence, Ms-PoE on and off.",
)  # fmt: skip
@click.option(
    "--proof", type=AnyFile, metavar="FILE",
    help="Also write the answer with its evidence to FILE.html or FILE.json, for rag-app check.",
)  # fmt: skip
@with_missing_shards
@with_corpus
@with_json
def ask(
    question: str,
    generation: GeneratorSettings,
    explain: bool,
    examples: Any,  # noqa: ANN401 - worked questions
    check_position: bool,
    proof: Path | None,
    fields: Fields,
    missing_shards: MissingShards,
    folder: Path,
    as_json: bool,
) -> None:
    """Answer a question, with citations: numbered markers in the text, then their quotes."""
    from generator.answer import AnswerReady, TextDelta
    from generator.answer_json import as_json as shape
    from rag_app.cli import printing
    from rag_app.progress import steps
    from rag_app.proof.proof import refuse

    if proof:
        refuse(proof)
    generation = replace(suited(generation, fields), examples=examples)
    request = ask_request(question, fields)
    options = {"generator": generation, "missing_shards": missing_shards}
    with open_corpus(folder, quick_start=True, **options) as corpus:
        streamed = not as_json and not _comes_at_once(request.mode, generation)
        for event in corpus.events(request):
            if isinstance(event, TextDelta) and streamed:
                printing.piece(event.text)
            elif isinstance(event, AnswerReady):
                result = event.answer
        if not as_json:
            if not streamed:
                printing.quotes(result)
            printing.sources(result, explain=explain)
        check = None
        if check_position:
            with steps("Checking positions") as progress:
                check = corpus.check_position(request, usual=result, progress=progress)
        values = {**shape(result), **({"position_check": check.as_json()} if check else {})}
        print_result(as_json, values, lambda: printing.position_check(check) if check else None)
        if proof:
            corpus.write_proof(result, proof)


def _comes_at_once(mode: Mode | None, settings: GeneratorSettings) -> bool:
    """Whether all of an answer is there before its first line: quotes, no language model."""
    from generator.lm.calibration_record import usual

    if settings.evidence == "documents" and not mode:
        return False
    return (mode or usual(settings.model).mode) == "quote"
