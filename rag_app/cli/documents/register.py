"""`rag-app register`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from indexing.documents import clock
from indexing.errors import InvalidRequest
from rag_app.cli.bold import filled
from rag_app.cli.options import print_result, with_corpus, with_json
from rag_app.cli.request_options import LIMITS_OF_LISTS, Fields, with_fields
from rag_app.cli.terminal import count_noun, escape, field, say
from rag_app.output_file import write_whole
from rag_app.progress import steps
from rag_app.request_fields import limits_of
from rag_app.short_answer import Emphasis

if TYPE_CHECKING:
    from generator.register.entry import Entry, Matter, Register

# Written out, so that help loads no library; `test_register.py` compares them.
KINDS = ["decision", "action", "question"]
STATES = ["open", "confirmed", "changed", "done", "dropped"]
_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command()
@with_corpus
@click.option(
    "--person", default="", metavar="NAME", help="Only what this person is to do, or says."
)
@click.option(
    "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only this kind.  Repeatable."
)
@click.option(
    "--state", "states", type=click.Choice(STATES), multiple=True,
    help="Only matters of which this became.  Repeatable.",
)  # fmt: skip
@with_fields("command", "search", *LIMITS_OF_LISTS)
@click.option("--csv", type=_FILE, help="Write a table to this file; - prints it.")
@click.option("--markdown", type=_FILE, help="Write a list to read to this file; - prints it.")
@click.option(
    "--ics", type=_FILE,
    help="Write the actions to this file, as a calendar's tasks; - prints them.",
)  # fmt: skip
@with_json
def register(
    folder: Path,
    person: str,
    kinds: tuple[str, ...],
    states: tuple[str, ...],
    fields: Fields,
    as_json: bool,
    **files: Path | None,
) -> None:
    """List decisions, actions and open questions of all meetings, as quotes.

    Who is to do it, until when, and what later meetings say became of it. Ids stay the same, so
    that a file which is written again brings what was made of the first up to date.
    """
    from generator.register.entry import as_json as shape
    from rag_app.corpus.corpus import Corpus

    if as_json and Path("-") in files.values():
        raise InvalidRequest("--json prints already; name a file instead of -")
    with Corpus(folder) as corpus, steps("Reading documents") as progress:
        found = corpus.register(
            person=person,
            kind=cast(Any, kinds),
            state=cast(Any, states),
            where=limits_of(fields),
            progress=progress,
        )
    if not _write(found, files) or as_json:
        print_result(as_json, shape(found), lambda: _show(found))


def _write(found: Register, files: Mapping[str, Path | None]) -> bool:
    """Write the files that are asked for; whether there is one."""
    from rag_app.register.forms import FORMS

    wanted = {form: path for form, path in files.items() if path is not None}
    for form, path in wanted.items():
        text = FORMS[form](found)
        if str(path) == "-":
            click.echo(escape(text.replace("\r\n", "\n")), nl=False)
            continue
        write_whole(path, text.encode(errors="replace"))
    return bool(wanted)


def _show(found: Register) -> None:
    for matter in found:
        due = f"{matter.until} ({matter.due})" if matter.due else matter.until
        about = (matter.kind, matter.state, matter.who, due)
        say(f"{matter.id}  {', '.join(field(each) for each in about if each)}")
        for one in matter.entries:
            _entry(one, matter)
    undated = f", {count_noun(found.undated, 'meeting')} without a date" if found.undated else ""
    say(f"{count_noun(len(found), 'matter')} of {count_noun(found.meetings, 'meeting')}{undated}")


def _entry(one: Entry, matter: Matter) -> None:
    say(filled(Emphasis(one.quote.text).shown, escape, indent=4))
    tells = one.tells if len(matter.entries) > 1 else ""
    place = [tells, one.title, one.day, clock(one.quote.time), one.quote.speaker, one.quote.place]
    say(" " * 4 + ", ".join(field(part) for part in place if part))
