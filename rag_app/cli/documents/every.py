"""`rag-app every`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.request_options import Fields, with_fields
from rag_app.cli.terminal import say
from rag_app.progress import steps

if TYPE_CHECKING:
    from generator.instances.instances import Instances


@click.command()
@click.argument("question")
@with_fields("command", "every")
@with_corpus
@with_json
def every(question: str, fields: Fields, folder: Path, as_json: bool) -> None:
    """List every place that says what is asked for, with how many there probably are.

    A question, or such as "every time the budget was discussed". The estimate counts those that
    were missed, with an interval.
    """
    from rag_app.cli import json_output as shapes

    with open_corpus(folder, quick_start=True) as corpus, steps("Reading") as progress:
        found = corpus.every(question, progress, **fields)
    print_result(as_json, shapes.instances(found), lambda: _show(found))


def _show(found: Instances) -> None:
    from rag_app.cli import printing
    from rag_app.requests.mentions import STATED, told

    if found.stated is not None:
        say(f"{STATED}:")
        printing.hits(found.as_hits([found.stated]), explain=False)
        say("")
    message, values = told(found)
    say(message.format(**values))
    if found.places:
        printing.hits(found.hits, explain=False)
