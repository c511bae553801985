"""Answers, hits and reports for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from indexing.documents import Hit, Occasion, PassageHit, clock
from indexing.store.collections import DEFAULT
from indexing.text.disfluency import without_noise
from rag_app.cli.bold import filled, in_bold
from rag_app.cli.json_output import shown
from rag_app.cli.terminal import (
    answer_piece,
    answer_text,
    count_noun,
    document_text,
    escape,
    field,
    flow,
    say,
)
from rag_app.progress import bar
from rag_app.short_answer import Emphasis, answer_lines, quote_emphasis

if TYPE_CHECKING:
    from generator.answer import Answer, Citation, ContextEntry
    from generator.position_check import PositionCheck
    from indexing.index_report import IndexReport
    from indexing.index_report import Progress as Step
    from indexing.store.view import DocumentEntry
    from rag_app.cli.settings import Setting
    from rag_app.corpus.contents.info import CorpusInfo
    from rag_app.corpus.shards.missing import PartialHits


_WIDEST = 100  # columns of a line of text


def piece(text: str) -> None:
    """Print part of a streamed text at once."""
    click.echo(answer_piece(without_noise(text)), nl=False)


def quotes(answer: Answer) -> None:
    """The text of an answer of quotes, the words that answer in bold.

    On a terminal, the lines of quotes end between words.
    """
    width = min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else None
    lines = (
        filled(line.text.shown, document_text, width=width, end=line.own)
        if width and line.marker
        else in_bold(line.text.shown, document_text) + line.own
        for line in answer_lines(answer)
    )
    click.echo("\n".join(lines), nl=False)


@contextmanager
def index_progress(doing: str) -> Iterator[Callable[[Step], None]]:
    """A progress bar for indexing; yields what to call with each step."""
    with bar(doing, percent=True) as advance:

        def update(step: Step) -> None:
            name = field(step.path.rsplit("/", 1)[-1])[:40].replace("[", "(")
            note = f"{step.tokens:,} tokens" + (f", {name}" if name else "")
            if step.workers:
                note += f", {count_noun(step.workers, 'worker')}"
            if step.picture:
                note += f", reading picture {step.picture} of {step.pictures}"
            advance(step.done, step.total or None, note)

        yield update


def report(done: IndexReport) -> None:
    """A line of counts, then the files that were skipped or not read."""
    counts = {
        "added": len(done.added),
        "updated": len(done.updated),
        "unchanged": done.unchanged,
        "moved": len(done.moved),
        "removed": len(done.removed),
        "duplicate" if len(done.duplicates) == 1 else "duplicates": len(done.duplicates),
        "failed": len(done.failures),
    }
    summary = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    say(f"{summary or 'nothing to do'} ({done.tokens:,} tokens encoded)")
    if done.reused:
        say(f"{count_noun(len(done.reused), 'document')} held by other collections already")
    if done.skipped:
        kinds = ", ".join(
            f"{count} {suffix or 'no suffix'}" for suffix, count in sorted(done.skipped.items())
        )
        say(f"skipped, unsupported file types: {kinds}")
    for duplicate in done.duplicates:
        say(f"skipped: {field(str(duplicate), longest=1000)}")
    for path, how in done.recognised.items():
        say(f"scanned: {field(path, longest=1000)}: {how}")
    for each in done.unread:
        say(f"not read: {field(str(each), longest=1000)}")


def hits(ranking: Sequence[Hit], explain: bool) -> None:
    """Documents with their passages."""
    if not ranking:
        say("Nothing found.")
    for rank, hit in enumerate(ranking, 1):
        dated = f"{hit.day}  " if hit.day else ""
        name = f"{field(hit.title)}  {dated}[{hit.document}]"
        say(f"{rank}. {name}  {hit.score:.2f}  {field(hit.path)}")
        if explain:
            say(f"     {_parts(hit.parts)}")
        for passage in hit.passages:
            say(
                f"   - {_where(passage)}characters {passage.start}-{passage.end}  "
                f"{passage.score:.2f}"
            )
            if explain:
                say(f"     {_parts(passage.parts)}")
            say(_filled(shown(passage), indent=5))
            for figure in passage.figures:
                say(_filled(f"beside it: {figure}", indent=5))


def partial_hits(results: PartialHits, explain: bool, nothing: str) -> None:
    """Documents with their passages, then what was not looked at.

    Where there are none, `nothing` is said; "" for the usual.
    """
    if results.hits or not nothing:
        hits(results.hits, explain)
    else:
        say(nothing)
    for line in results.missing:
        say(field(line.title))


def sources(answer: Answer, *, explain: bool = False) -> None:
    """What follows a streamed answer: quotes, unsupported sentences, context ledger, timings."""
    click.echo("\n")
    if answer.read_as:
        say(f"read as: {answer.read_as} (--read-as question looks it up in all documents)")
        say("")
    for citation in answer.citations:
        check = f"  ({doubt})" if (doubt := citation.doubt) else ""
        cited(citation, f"[{citation.marker}] ", quote_emphasis(citation, answer.short), check)
    if answer.closest:
        say("Closest passages (related, but not an answer):")
    for citation in answer.closest:
        cited(citation, "  - ", Emphasis(citation.quote))
    if answer.probability is not None:
        say(f"probability that the documents answer: {answer.probability:.0%}")
    for sentence in answer.unsupported:
        say(f"No support found for: {flow(sentence)}")
    say("")
    _read(answer.context)
    if (shown := answer.configuration.get("shown")) and not explain:
        say(flow(shown))
    if (figures := answer.configuration.get("figures")) and not explain:
        say(flow(figures))
    if (form := answer.configuration.get("form")) and not explain:
        say(f"form: {form}")
    if explain:
        how(answer)
    spent = ", ".join(f"{name} {value:.2f} s" for name, value in answer.seconds.items())
    say(f"time: {spent}")


def _read(context: Sequence[ContextEntry]) -> None:
    """How much of each document was read; those of which nothing was, and lost ones, by name."""
    unread = [field(one.title) for one in context if one.document and not one.kept]
    for entry in context:
        if entry.was_lost:
            say(field(entry.title))
        elif entry.kept or not entry.document:
            say(f"read {entry.kept:,} of {entry.tokens:,} tokens of {field(entry.title)}")
    if unread:
        say(f"found, but nothing of it read: {'; '.join(unread)}")


def cited(citation: Citation, label: str, quote: Emphasis, check: str = "") -> None:
    """Where a quote stands, then the quote, its words that answer in bold."""
    dated = f", {citation.dated}" if citation.dated else ""
    place = f"{_where(citation)}{field(citation.title)}{dated}"
    place += f", characters {citation.start}-{citation.end}"
    say(f"{label}{place}{check}")
    quote = quote.shown
    quoted = Emphasis(f'"{quote.before}', quote.words, f'{quote.after}"')
    click.echo(filled(quoted, escape, indent=4))
    say(f"    {field(citation.path)}")
    for figure in citation.figures:
        say(_filled(f"beside it: {figure}", indent=4))


def how(answer: Answer) -> None:
    """How an answer was made, and the weight of each passage where they were read apart."""
    for part, state in answer.configuration.items():
        say(f"{part}: {flow(state)}")
    if answer.query not in {"", answer.question}:
        say(f"searched for: {flow(answer.query)}")
    for passage in answer.responsibility.passages if answer.responsibility else ():
        say(
            f"share {passage.share:.2f} (prior {passage.prior:.2f}, "
            f"posterior {passage.posterior:.2f})  {field(passage.title)}, "
            f"characters {passage.start}-{passage.end}"
        )


def position_check(check: PositionCheck) -> None:
    """Whether the answer depends on the position of its evidence, and how it changes."""
    changed = sum(one.changed for one in check.variants)
    outcome = (
        "the answer does not change"
        if check.stable
        else f"{changed} of {len(check.variants)} variants CHANGE the answer"
    )
    say("")
    say(f"position check: {outcome} (agreement {check.agreement:.0%})")
    for one in check.variants:
        differs = one.positions != check.answer.configuration.get("Ms-PoE", "")
        variant = f"evidence {one.order}" + (f", Ms-PoE {one.positions}" if differs else "")
        say(f"  {one.agreement:4.0%}  {'CHANGED  ' if one.changed else ''}{variant}")
        if one.changed:
            say(_filled(answer_text(one.answer.text, one.answer.mode), indent=8))
    for line in check.left_out:
        say(f"  not checked: {line}")


def entries(documents: Sequence[DocumentEntry]) -> None:
    """One line a document."""
    named = any(entry.collections != (DEFAULT,) for entry in documents)
    dated = any(entry.occasion.date for entry in documents)
    for entry in documents:
        part = f" ({field(entry.part)})" if entry.part else ""
        within = f"  [{', '.join(map(field, entry.collections))}]" if named else ""
        say(
            f"{entry.id}  {entry.words:>9,} words  {entry.format:<8} "
            f"{f'{entry.occasion.day:<10}  ' if dated else ''}{field(entry.title)}  "
            f"{field(entry.path)}{part}{within}"
        )
    say(count_noun(len(documents), "document"))


def occasion_lines(occasion: Occasion) -> Iterator[str]:
    """When and among whom, each with where the file says so."""
    if occasion.date:
        when = field(occasion.date.replace("T", " "))
        yield f"date: {when} (from the {field(occasion.date_source)})"
    if occasion.participants:
        names = ", ".join(map(field, occasion.participants))
        yield f"participants: {names} (from the {field(occasion.participants_source)})"


def info(
    about: CorpusInfo,
    missing: Sequence[DocumentEntry],
    answers: str,
    single_tokens: str,
    abstention: str,
) -> None:
    """Name and value, a line each."""
    say(f"corpus      {about.folder}")
    say(
        f"documents   {about.documents:,} ({about.passages:,} passages, {about.words:,} words, "
        f"{about.tokens:,} tokens)"
    )
    say(
        f"on disk     {about.bytes / 1e6:,.1f} MB, generation {about.generation}, "
        f"index {about.snapshot}, {count_noun(about.segments, 'segment')}"
        + (f" ({about.waiting} to be merged)" if about.waiting else "")
        + (f", merged now by {about.merging}" if about.merging else "")
    )
    if about.shards:
        say(f"shards      {about.shards}")
    if about.fingerprint:
        for name, value in about.fingerprint.as_dict().items():
            say(f"{name:<11} {value}")
    say(f"answers     {answers}")
    say(f"decoding    {single_tokens}")
    say(f"abstention  {abstention}")
    for entry in missing:
        say(f"file missing: {field(entry.path)} (rag-app remove --missing)")


def settings(all_: Sequence[Setting]) -> None:
    """Name, value and source, a line each, with the commands where not all agree."""
    names = [each.name for each in all_]
    width = max(map(len, names), default=0) + 2
    for each in all_:
        option = f"{'-' if len(each.name) == 1 else '--'}{each.name}"
        only = f"  ({', '.join(each.commands)})" if names.count(each.name) > 1 else ""
        say(f"{option:<{width}} {each.value!s:<18} {each.source}{only}")
    say("")


def _where(span: PassageHit | Citation) -> str:
    """Time, speaker and page of a passage or quote, as far as there are any."""
    speaker = field(span.speaker or "")
    return "".join(
        f"{part}, " for part in (clock(span.time), speaker, field(span.place or "")) if part
    )


def _filled(text: str, *, indent: int) -> str:
    """Text in lines of at most 100 characters."""
    space = " " * indent
    return textwrap.fill(flow(text), 100, initial_indent=space, subsequent_indent=space)


def _parts(parts: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:+.2f}" for name, value in parts.items())
