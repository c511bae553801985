"""`rag-app speakers`: who speaks in which document, by other names than those of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.request_options import with_collections
from rag_app.cli.terminal import count_noun, field, say

if TYPE_CHECKING:
    from rag_app.corpus.contents.speakers import Speaker


@click.command()
@click.argument("documents", metavar="[DOCUMENT]...", nargs=-1)
@click.option(
    "--rename", "renames", nargs=2, multiple=True, metavar="SPEAKER NAME",
    help="Give a speaker another name; one that another has makes them one. May be repeated.",
)  # fmt: skip
@click.option(
    "--restore", "restored", multiple=True, metavar="SPEAKER",
    help="Call a speaker as the file does again. May be repeated.",
)  # fmt: skip
@with_corpus
@with_collections
@with_json
def speakers(
    documents: tuple[str, ...],
    renames: tuple[tuple[str, str], ...],
    restored: tuple[str, ...],
    folder: Path,
    collections: tuple[str, ...],
    as_json: bool,
) -> None:
    """List who speaks in which DOCUMENT (by id, path or title; default all), or rename them.

    "SPEAKER_01" of a recording can become "Ada Park", in search, answers and overviews. Nothing is
    encoded again: the text, with the file's own label, and every offset stay as they are.
    """
    from indexing.filter import Filter

    where = Filter(collections=collections)
    with open_corpus(folder) as corpus:
        for speaker, name in renames:
            corpus.speakers.rename(speaker, name, documents, where=where)
        for speaker in restored:
            corpus.speakers.restore(speaker, documents, where=where)
        every = corpus.speakers.all(documents, where=where)
    print_result(as_json, [asdict(one) for one in every], lambda: _list(every))


def _list(every: Sequence[Speaker]) -> None:
    for title, of_document in groupby(every, key=lambda one: (one.document, one.title)):
        say(f"{title[0]}  {field(title[1])}")
        for one in of_document:
            label = f"  (in the file: {field(one.label)})" if one.label != one.name else ""
            times = "time " if one.utterances == 1 else "times"
            share = f"{one.words:>9,} words  {one.utterances:>6,} {times}"
            say(f"  {share}  {field(one.name)}{label}")
    names = {one.name for one in every}
    say(f"{count_noun(len(names), 'speaker')}" if names else "Nobody speaks in these documents.")
