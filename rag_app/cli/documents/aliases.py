"""`rag-app aliases`: names with their other spellings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.options import print_result, with_corpus, with_json
from rag_app.cli.terminal import field, flow, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.text.aliases import Aliases
    from rag_app.corpus.contents.alias_proposals import Proposal


@click.command()
@click.option(
    "--add", "added", nargs=2, multiple=True, metavar="NAME SPELLING",
    help="Read a spelling as a name. May be repeated.",
)  # fmt: skip
@click.option(
    "--remove", "removed", multiple=True, metavar="SPELLING",
    help="Leave a spelling as it is again, or all of a name. May be repeated.",
)  # fmt: skip
@click.option(
    "--propose", is_flag=True,
    help="Show spellings that may be of one name, with quotes of both; none is added.",
)  # fmt: skip
@with_corpus
@with_json
def aliases(
    added: tuple[tuple[str, str], ...],
    removed: tuple[str, ...],
    propose: bool,
    folder: Path,
    as_json: bool,
) -> None:
    """List names with their other spellings, such as Aoife, transcribed as "Eefa".

    Questions, limits by speaker, mentions and what reads the evidence see one name; answers say
    which spelling stands in the document. No text is changed. Capitals count.
    """
    from rag_app.corpus.corpus import Corpus

    with Corpus(folder) as corpus:
        with corpus.reading():
            pass  # there is one
        for name, spelling in added:
            corpus.aliases.add(name, spelling)
        if removed:
            corpus.aliases.remove(*removed)
        if propose:
            found = corpus.aliases.propose()
            print_result(as_json, [asdict(one) for one in found], lambda: _propose(found))
            return
        known = corpus.aliases.all()
    print_result(as_json, [asdict(one) for one in known.entries], lambda: _list(known))


def _list(known: Aliases) -> None:
    for one in known.entries:
        say(f"{field(one.name)}: {', '.join(map(field, one.spellings))}")
    if not known:
        say("No aliases. See what may be some: rag-app aliases --propose")


def _propose(found: Sequence[Proposal]) -> None:
    for one in found:
        alike = f"sound {one.sound:.2f}, context {one.context:.2f}"
        say(f"{field(one.spelling)} may be {field(one.name)} ({alike})")
        for quote in (one.name_quote, one.spelling_quote):
            say(f"    {field(quote.title)}, characters {quote.start}-{quote.end}:")
            say(f'    "{flow(quote.text)}"')
    say("add one with: --add NAME SPELLING" if found else "Nothing found.")
