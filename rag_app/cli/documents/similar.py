"""`rag-app similar`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.request_options import with_k
from rag_app.cli.terminal import field, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retriever.similar_documents import SimilarDocument


@click.command()
@click.argument("name")
@with_k
@with_corpus
@with_json
def similar(name: str, k: int, folder: Path, as_json: bool) -> None:
    """List the documents most similar to one (by id, path or title), by vectors of the whole text.

    Loads no model.
    """
    with open_corpus(folder) as corpus:
        documents = corpus.similar(name, k=k)
    values = [
        {**asdict(each.document), "similarity": round(each.similarity, 4)} for each in documents
    ]
    print_result(as_json, values, lambda: _show(documents))


def _show(documents: Sequence[SimilarDocument]) -> None:
    for number, each in enumerate(documents, 1):
        document = each.document
        say(f"{number}. {field(document.title)}  [{document.id}]  {each.similarity:.2f}")
        say(f"   {field(document.path)}")
    if not documents:
        say("no other document")
