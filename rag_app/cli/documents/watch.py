"""`rag-app watch`. Nothing heavy is imported before it is called."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli import terminal
from rag_app.cli.option_types import AnyPath
from rag_app.cli.options import (
    open_corpus,
    with_collection,
    with_corpus,
    with_encoder,
    with_file_limits,
    with_ocr,
    with_synchronous,
)

if TYPE_CHECKING:
    from indexing.encoder.settings import EncoderSettings
    from indexing.limits import FileLimits
    from indexing.ocr.reading import OcrSettings
    from indexing.store.database import Synchronous
    from rag_app.corpus.watching.folder_watch import FolderEvent


@click.command()
@click.argument("folders", nargs=-1, required=True, type=AnyPath)
@with_corpus
@with_collection
@with_encoder
@click.option(
    "--settle", type=click.FloatRange(0, 3600), default=2.0, show_default=True, metavar="SECONDS",
    help="A file is complete when it has not changed for so long.",
)  # fmt: skip
@click.option(
    "--poll", type=click.FloatRange(0.1, 3600), metavar="SECONDS",
    help="Look at all files this often, as network drives do not tell what changes.",
)  # fmt: skip
@click.option(
    "--tell", multiple=True, metavar="QUESTION",
    help="Print each new place that mentions this subject, or answers this question, once.",
)  # fmt: skip
@with_ocr
@with_file_limits
@with_synchronous
@click.option("--json", "as_json", is_flag=True, help="Print JSON, a line for each event.")
def watch(
    folders: tuple[Path, ...],
    folder: Path,
    collection: str,
    encoder: EncoderSettings | None,
    settle: float,
    poll: float | None,
    tell: tuple[str, ...],
    ocr: OcrSettings,
    limits: FileLimits,
    synchronous: Synchronous,
    as_json: bool,
) -> None:
    """Keep a corpus as some folders are, while it is being asked. Ctrl-C stops it.

    Files are added, replaced, and removed when they are gone. A folder that is gone keeps its
    documents until it is back. A transcript that is being written is read line by line.
    """
    from rag_app.corpus.watching.folder_watch import FolderWatch

    with open_corpus(
        folder, encoder=encoder, limits=limits, ocr=ocr, synchronous=synchronous
    ) as corpus:
        folder_watch = FolderWatch(
            corpus, folders, collection=collection, settle=settle, poll=poll, tell=tell
        )
        before = None
        for event in folder_watch.events():
            if as_json or event.kind != "grown" or event != before:  # once, not for every line
                show(event, as_json=as_json)
            before = before if event.kind == "told" else event


def show(event: FolderEvent, *, as_json: bool) -> None:
    """Print an event at once, in a line; a place with its quote."""
    from generator.answer_json import place_json
    from rag_app.cli.printing import cited
    from rag_app.short_answer import Emphasis

    place = event.citation
    if as_json:
        values = {**asdict(event), "citation": place and place_json(place)}
        terminal.say_json(json.dumps(values, ensure_ascii=not terminal.is_unicode()))
        return
    if place is not None:
        label = f"{event.kind:<9} {terminal.field(event.question)}: "
        cited(place, label, Emphasis(place.quote))
        return
    name = f"{event.title} ({event.path})" if event.title and event.path else event.path
    about = "; ".join(filter(None, (event.reason, event.remedy)))
    whole = ": ".join(filter(None, (name or event.document, about)))
    terminal.say(f"{event.kind:<9} {terminal.field(whole, longest=2000)}")
