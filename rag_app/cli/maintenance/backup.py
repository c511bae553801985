"""`rag-app backup` and `rag-app restore`. Nothing heavy is imported before they are called."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from rag_app.cli.option_types import AnyFile
from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.terminal import count_noun, say


@click.command()
@click.argument("file", type=AnyFile)
@with_corpus
@with_json
def backup(file: Path, folder: Path, as_json: bool) -> None:
    """Write a corpus to one file as it is now, while others search and write.

    With conversations and uploads of a server. An earlier backup of that name is replaced.
    """
    from rag_app.progress import bar

    with open_corpus(folder) as corpus, bar("Writing the backup"):
        done = corpus.backup(file)
    line = f"{file}: {count_noun(done.documents, 'document')}, {done.bytes / 1e6:,.1f} MB"
    print_result(as_json, asdict(done), lambda: say(line))


@click.command()
@click.argument("file", type=AnyFile)
@click.option("--replace", is_flag=True, help="Put it in the place of the corpus that is there.")
@with_corpus
@with_json
def restore(file: Path, replace: bool, folder: Path, as_json: bool) -> None:
    """Bring a backup back. A server that has the corpus open goes on with what it held."""
    from rag_app.progress import bar

    with open_corpus(folder) as corpus, bar("Restoring"):
        done = corpus.restore(file, replace=replace)
    when = f"{done.created[:16].replace('T', ' ')} UTC"
    verb = "is" if done.documents == 1 else "are"
    line = f"{count_noun(done.documents, 'document')} of {when} {verb} in {folder}"
    print_result(as_json, asdict(done), lambda: say(line))
