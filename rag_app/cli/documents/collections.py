"""`rag-app collections`: named sets of documents with an owner, in one corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexing.errors import InvalidRequest
from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json, with_yes
from rag_app.cli.terminal import count_noun, field, say

if TYPE_CHECKING:
    from indexing.store.collections import Collection
    from rag_app.corpus.corpus import Corpus

MAX_SHOWN = 10  # documents that a question names


@click.group(invoke_without_command=True)
@with_corpus
@with_json
@click.pass_context
def collections(context: click.Context, folder: Path, as_json: bool) -> None:
    """List, make, share and delete collections: named sets of documents in one corpus.

    A document may be in several, and is stored and encoded once. What is indexed without
    --collection is in the collection "default", which is everybody's.
    """
    if context.invoked_subcommand is not None:
        return

    with open_corpus(folder) as corpus:
        every = corpus.collections.all()
    print_result(as_json, [asdict(one) for one in every], lambda: _list(every))


@collections.command()
@click.argument("name")
@click.option("--owner", metavar="LOGIN", help="Login name of its owner.  [default: everybody]")
@click.option("--shared", is_flag=True, help="Let others than the owner read it.")
@with_corpus
@with_json
def create(name: str, owner: str | None, shared: bool, folder: Path, as_json: bool) -> None:
    """Make an empty collection."""
    with open_corpus(folder) as corpus:
        collection = corpus.collections.create(name, owner=owner, shared=shared)
    print_result(as_json, asdict(collection), lambda: _list([collection]))


@collections.command()
@click.argument("name")
@click.argument("to")
@with_corpus
def rename(name: str, to: str, folder: Path) -> None:
    """Give a collection another name."""
    with open_corpus(folder) as corpus:
        corpus.collections.rename(name, to)
    say(f"{field(name)} is now {field(to)}")


@collections.command()
@click.argument("name")
@with_corpus
def share(name: str, folder: Path) -> None:
    """Let everybody read a collection; only its owner changes it."""
    with open_corpus(folder) as corpus:
        corpus.collections.share(name)
    say(f"{field(name)}: everybody may read it")


@collections.command()
@click.argument("name")
@with_corpus
def unshare(name: str, folder: Path) -> None:
    """Let nobody but its owner read a collection."""
    with open_corpus(folder) as corpus:
        corpus.collections.unshare(name)
        owner = corpus.collections.named(name).owner
    whose = (
        "it has no owner, so everybody may still" if owner is None else f"only {field(owner)} may"
    )
    say(f"{field(name)}: {whose} read it")


@collections.command()
@click.argument("name")
@click.argument("owner", required=False)
@with_corpus
def give(name: str, owner: str | None, folder: Path) -> None:
    """Give a collection to another OWNER (login name); to everybody if none is named."""
    with open_corpus(folder) as corpus:
        corpus.collections.give(name, owner)
    say(f"{field(name)}: belongs to {field(owner or 'everybody')}")


@collections.command()
@click.argument("name")
@click.argument("documents", nargs=-1, required=True)
@with_corpus
@with_json
def add(name: str, documents: tuple[str, ...], folder: Path, as_json: bool) -> None:
    """Put documents of the corpus (by id, file, folder or title) into a collection too.

    rag-app remove --collection NAME takes them out again.
    """
    with open_corpus(folder) as corpus:
        count = corpus.collections.add(name, documents)
    line = f"{count_noun(count, 'document')} added to {field(name)}"
    print_result(as_json, {"added": count}, lambda: say(line))


@collections.command()
@click.argument("name")
@with_corpus
@with_yes
@with_json
def delete(name: str, folder: Path, yes: bool, as_json: bool) -> None:
    """Delete a collection, and the documents that are in no other. Your own files stay."""
    with open_corpus(folder) as corpus:
        what = corpus.collections.deletion(name)
        if not yes:
            lost = count_noun(len(what.removed), "document")
            say(
                f"{_described(what.collection)}: {lost} in no other collection will be removed",
                error=True,
            )
            titles = {entry.id: entry.title for entry in corpus.documents()}
            _say_kept({titles[id_]: holders for id_, holders in what.kept.items()})
            _confirm("Delete it?")
        removed = corpus.collections.delete(name)
    line = f"{field(name)} deleted, with {count_noun(removed, 'document')}"
    print_result(as_json, {"removed": removed}, lambda: say(line))


def confirm_removal(corpus: Corpus, names: Sequence[str]) -> None:
    """Ask before documents are removed that are in several collections; say in which.

    Raises:
        InvalidRequest: There is nobody to ask.
        Abort: They say no.
    """
    from rag_app.corpus.contents.document_names import removable_documents

    entries = corpus.documents()
    ids = {id_ for name in names for id_ in removable_documents(name, entries)}
    several = {one.id: one.title for one in entries if one.id in ids and len(one.collections) > 1}
    if several:
        say("Documents that are in several collections will be removed from all:", error=True)
        _say_kept({title: corpus.collections.holding(id_) for id_, title in several.items()})
        _confirm("Remove them everywhere? (--collection NAME removes them from one)")


def _confirm(question: str) -> None:
    """Ask; no answer is an error that names the way around."""
    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        raise InvalidRequest("nothing was removed; --yes does it without asking") from None


def _say_kept(holders: dict[str, Iterable[Collection]]) -> None:
    """A line for each document: in which collections it is."""
    for title, those in list(holders.items())[:MAX_SHOWN]:
        say(f"  {field(title)}: in {', '.join(map(_described, those))}", error=True)
    if len(holders) > MAX_SHOWN:
        say(f"  and {len(holders) - MAX_SHOWN} more", error=True)


def _described(one: Collection) -> str:
    """The name of a collection, with its owner."""
    return field(one.name) + (f" ({field(one.owner)})" if one.owner is not None else "")


def _list(every: Sequence[Collection]) -> None:
    """One line a collection."""
    for one in every:
        readers = "everybody's" if one.owner is None else f"of {field(one.owner)}"
        shared = ", shared" if one.shared and one.owner is not None else ""
        documents = count_noun(one.documents, "document")
        say(f"{field(one.name)}  ({readers}{shared})  {documents}")
