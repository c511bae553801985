"""`rag-app export` and `rag-app import`. Nothing heavy is imported before they are called."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.option_types import AnyFile
from rag_app.cli.options import open_corpus, print_result, with_corpus, with_encoder, with_json
from rag_app.cli.terminal import count_noun, say

if TYPE_CHECKING:
    from indexing.encoder.settings import EncoderSettings


@click.command()
@click.argument("file", type=AnyFile)
@with_corpus
@with_json
def export(file: Path, folder: Path, as_json: bool) -> None:
    """Write documents and vectors to one archive of JSON and NumPy arrays, for other versions."""
    from rag_app.progress import steps

    with open_corpus(folder) as corpus, steps("Exporting") as progress:
        count = corpus.export_archive(file, progress=progress)
    line = f"{file}: {count_noun(count, 'document')}"
    print_result(as_json, {"path": str(file), "documents": count}, lambda: say(line))


@click.command("import")
@click.argument("file", type=AnyFile)
@with_corpus
@with_encoder
@with_json
def import_(file: Path, folder: Path, encoder: EncoderSettings | None, as_json: bool) -> None:
    """Add the documents of an export, of this or another version; those known are left out."""
    from rag_app.progress import steps

    with open_corpus(folder, encoder=encoder) as corpus, steps("Importing") as progress:
        done = corpus.import_archive(file, progress=progress)
    counts = f"{count_noun(len(done.added), 'document')} added, {done.known:,} known"
    line = f"{counts}, {done.encoded:,} encoded again" if done.encoded else counts
    print_result(as_json, asdict(done), lambda: say(line))
