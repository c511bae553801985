"""`rag-app overview`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexing.documents import clock
from rag_app.cli.bold import filled
from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.printing import occasion_lines
from rag_app.cli.terminal import count_noun, escape, field, say
from rag_app.short_answer import Emphasis

if TYPE_CHECKING:
    from generator.overview.overview import Overview, Quote


@click.command()
@click.argument("name")
@with_corpus
@with_json
def overview(name: str, folder: Path, as_json: bool) -> None:
    """Show what a document (by id, path or title) is about, in its own words.

    Length, speakers, topics with the most telling sentence of each, decisions and actions.
    """
    from generator.overview.overview import as_json as shape

    with open_corpus(folder) as corpus:
        about = corpus.overview(name)
    print_result(as_json, shape(about), lambda: show(about))


def show(about: Overview) -> None:
    """Print an overview."""
    say(field(about.title))
    lengths = [count_noun(about.words, "word"), clock(about.seconds)]
    lengths += [count_noun(about.pages, "page") if about.pages else None]
    say(", ".join(each for each in lengths if each))
    for line in occasion_lines(about.occasion):
        say(line)
    if about.speakers:
        _heading("Speakers")
    for each in about.speakers:
        say(f"  {each.share:4.0%}  {field(each.name)} ({count_noun(each.words, 'word')})")
    if about.topics:
        _heading("Topics")
    for number, topic in enumerate(about.topics, 1):
        say(f"  {number}. {field(', '.join(topic.keywords))} ({count_noun(topic.words, 'word')})")
        _quote(topic.quote)
    if about.decisions:
        _heading("Decisions")
    for quote in about.decisions:
        _quote(quote)
    if about.actions:
        _heading("Actions")
    for action in about.actions:
        _quote(action.quote, who=action.who, when=action.when)


def _heading(text: str) -> None:
    say("")
    say(text)


def _quote(quote: Quote, *, who: str | None = None, when: str | None = None) -> None:
    say(filled(Emphasis(quote.text).shown, escape, indent=5))
    place = [clock(quote.time), quote.speaker, quote.place, f"characters {quote.start}-{quote.end}"]
    due = [f"who: {who}" if who else None, f"when: {when}" if when else None]
    say(" " * 5 + ", ".join(field(part) for part in (*due, *place) if part))
