"""How often normal questions are read as something else, with every document's name as a trap.

Each file has one document a line: a meeting of QMSum (`specific_query_list`, normal questions, and
`general_query_list`, mostly requests for a summary), or an article with `title` and `questions`.
Nothing is indexed: only names decide. General requests are asked of their own meeting alone.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import click

from generator.request import AskRequest
from indexing.documents import Occasion
from indexing.filter import Filter
from indexing.store.view import DocumentEntry
from rag_app.cli.options import print_result, with_json
from rag_app.requests.naming.catalogue import Catalogue
from rag_app.requests.router import route

Json = dict[str, Any]

FIRST_DAY = date(2000, 1, 1)  # of the documents, should they have dates
EVERY = timedelta(days=4)  # 2,414 articles reach into 2026


@dataclass(frozen=True, slots=True)
class RoutingReport:
    """What the questions of a file were read as.

    Attributes:
        file: Its name.
        group: "questions", or "requests" for those that ask for a summary.
        documents: How many documents there are to be named.
        asked: How many questions.
        kinds: How many of each kind; "limited" is a question that is looked up in fewer documents.
        examples: Questions that were not looked up everywhere, with what they were read as.
    """

    file: str
    group: str
    documents: int
    asked: int
    kinds: dict[str, int]
    examples: tuple[tuple[str, str], ...]


def measure(
    file: Path, *, as_transcripts: bool = False, dated: bool = False
) -> Iterator[RoutingReport]:
    """Route every question of a file over a catalogue of all its documents.

    Args:
        file: JSON lines, perhaps packed with gzip.
        as_transcripts: Whether articles count as transcripts, which are named more freely.
        dated: Whether each document has a date of its own, so that a time in a question may limit.
    """
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open() as lines:
        documents = [json.loads(line) for line in lines if line.strip()]
    names = list(dict.fromkeys(_name(each) for each in documents))
    ids = {name: f"{at:012x}" for at, name in enumerate(names)}
    spoken = [ids[_name(each)] for each in documents if as_transcripts or "id" in each]
    days = [(FIRST_DAY + at * EVERY).isoformat() if dated else "" for at in range(len(names))]
    catalogue = Catalogue(
        [_entry(ids[name], name, day) for name, day in zip(names, days, strict=True)], spoken
    )
    for group in ("questions", "requests"):
        asked = [
            AskRequest(text, where=Filter((ids[_name(each)],) if group == "requests" else ()))
            for each in documents
            for text in _texts(each, group)
            if text.strip()
        ]
        if asked:
            yield _report(file, group, catalogue, asked)


def _name(document: Json) -> str:
    return str(document.get("title") or document["id"])


def _texts(document: Json, group: str) -> list[str]:
    queries = "specific_query_list" if group == "questions" else "general_query_list"
    texts = [each["query"] for each in document.get(queries, [])]
    if group == "questions":
        texts += [each["question"] for each in document.get("questions", [])]
    return texts


def _entry(id_: str, name: str, day: str) -> DocumentEntry:
    title = name.replace("_", " ")
    path = f"/documents/{name.replace('/', ' ')}.txt"
    occasion = Occasion(day, "file name" if day else "")
    return DocumentEntry(id_, path, "", title, "text", 1, 1, 1, 1, "", occasion=occasion)


def _report(file: Path, group: str, catalogue: Catalogue, asked: list[AskRequest]) -> RoutingReport:
    kinds: Counter[str] = Counter()
    examples = []
    for request in asked:
        found = route(request, catalogue)
        limited = found.request.where != request.where
        kinds["limited" if limited else found.target.kind] += 1
        if found.read_as:
            examples.append((request.question, found.read_as))
    return RoutingReport(
        file.name, group, len(catalogue.entries), len(asked), dict(kinds), tuple(examples)
    )


@click.command("requests")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--as-transcripts", is_flag=True, help="Count articles as transcripts.")
@click.option("--dated", is_flag=True, help="Give each document a date.")
@click.option("--examples", default=10, show_default=True, help="Questions shown of each file.")
@with_json
def command(
    files: tuple[Path, ...], as_transcripts: bool, dated: bool, examples: int, as_json: bool
) -> None:
    """Count the normal questions of FILES that are read as something else."""
    reports = [
        each for file in files for each in measure(file, as_transcripts=as_transcripts, dated=dated)
    ]

    def show() -> None:
        for each in reports:
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(each.kinds.items()))
            click.echo(f"{each.file}: {each.asked:,} {each.group}, {each.documents:,} documents")
            click.echo(f"  read as: {kinds}")
            for question, read_as in each.examples[:examples]:
                click.echo(f"  {question!r}: {read_as}")

    values = [{name: getattr(each, name) for name in RoutingReport.__slots__} for each in reports]
    print_result(as_json, values, show)
