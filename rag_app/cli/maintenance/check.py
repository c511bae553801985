"""`rag-app check`. Nothing heavy is imported before it is called."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from rag_app.cli.option_types import AnyPath
from rag_app.cli.options import print_result, with_corpus, with_json
from rag_app.cli.terminal import field, say
from rag_app.proof.proof import SCRIPT

FAULTY = 1


def _print_script(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(SCRIPT.read_text("utf-8"), nl=False)
        context.exit()


@click.command()
@click.argument("file", type=AnyPath)
@click.argument("originals", nargs=-1, type=AnyPath)
@click.option(
    "--script", is_flag=True, is_eager=True, expose_value=False, callback=_print_script,
    help="Print a Python script that checks proofs without rag-app, and exit.",
)  # fmt: skip
@with_corpus
@with_json
def check(file: Path, originals: tuple[Path, ...], folder: Path, as_json: bool) -> None:
    """Check a proof (`ask --proof`) against the ORIGINALS, files and folders, or else the corpus.

    Exit status: 0 if it is as it was written and every quote stands where it says, 1 if not.
    """
    from rag_app.corpus.corpus import Corpus
    from rag_app.progress import steps
    from rag_app.proof.verdict import check_proof

    with ExitStack() as stack:
        corpus = None if originals else stack.enter_context(Corpus(folder))
        progress = stack.enter_context(steps("Reading")) if originals else None
        verdict = check_proof(file, originals, corpus=corpus, progress=progress)

    def show() -> None:
        for fault in verdict.faults:
            say(f"wrong: {field(fault, longest=500)}")
        if verdict.holds:
            say(f"as it was written; {verdict.quotes} of {verdict.quotes} quotes stand")
        if (unplaced := verdict.quotes - verdict.placed) and verdict.holds:
            say(f"not compared by speaker, time and page: {unplaced}; a text alone has none")
        if verdict.unquoted:
            one = verdict.unquoted == 1
            lines = (
                "1 line of the answer is" if one else f"{verdict.unquoted} lines of the answer are"
            )
            say(f"not checked: {lines} no quote, or not only")

    print_result(as_json, {"holds": verdict.holds, **asdict(verdict)}, show)
    if not verdict.holds:
        raise SystemExit(FAULTY)
