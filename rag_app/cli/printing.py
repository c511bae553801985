"""What a person sees: text for a terminal. Document text is data, never markup or control codes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from indexing.documents import Hit, PassageHit, clock

if TYPE_CHECKING:
    from generator.answer import Answer, Citation
    from generator.position_check import PositionCheck
    from indexing.indexer import IndexReport
    from indexing.indexer import Progress as Step
    from indexing.store.store import DocumentEntry
    from rag_app.cli.settings import Setting
    from rag_app.corpus.info import CorpusInfo

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def say(line: str, *, error: bool = False) -> None:
    """Print a line, control characters and bidirectional overrides taken out."""
    click.echo(_CONTROL.sub("", line), err=error)


def counted(number: int, noun: str) -> str:
    """A number of things: 1 document, 2 documents."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def piece(text: str) -> None:
    """Print part of a streamed text at once."""
    click.echo(_CONTROL.sub("", text), nl=False)


@contextmanager
def progress(doing: str, unit: str) -> Iterator[Callable[[Step], None]]:
    """A progress bar on standard error; yields what to call with each step."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None, note="")

        def advance(step: Step) -> None:
            name = _CONTROL.sub("", step.path.rsplit("/", 1)[-1])[:40].replace("[", "(")
            note = (
                f"{step.tokens:,} tokens, {name}" if unit == "bytes" else f"{step.tokens:,} tokens"
            )
            bar.update(task, completed=step.done, total=step.total or None, note=note)

        yield advance


@contextmanager
def steps(doing: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; yields what to call with steps done, and of how many."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def report(done: IndexReport) -> None:
    """One line for each number that is not zero, then the duplicates and what was not read."""
    counts = {
        "added": len(done.added),
        "updated": len(done.updated),
        "unchanged": done.unchanged,
        "moved": len(done.moved),
        "removed": len(done.removed),
        "duplicates": len(done.duplicates),
        "failed": len(done.failures),
    }
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    say(f"{said or 'nothing to do'} ({done.tokens:,} tokens encoded)")
    if done.skipped:
        kinds = ", ".join(
            f"{count} {suffix or 'no suffix'}" for suffix, count in sorted(done.skipped.items())
        )
        say(f"skipped, unsupported file types: {kinds}")
    for duplicate in done.duplicates:
        say(f"skipped: {duplicate}")
    for each in done.unread:
        say(f"not read: {each}")


def hits(found: Sequence[Hit], explain: bool) -> None:
    """Documents with their passages."""
    if not found:
        say("Nothing found.")
    for rank, hit in enumerate(found, 1):
        say(f"{rank}. {hit.title}  [{hit.document}]  {hit.score:.2f}  {hit.path}")
        if explain:
            say(f"     {_parts(hit.parts)}")
        for passage in hit.passages:
            say(
                f"   - {_where(passage)}characters {passage.start}-{passage.end}  "
                f"{passage.score:.2f}"
            )
            if explain:
                say(f"     {_parts(passage.parts)}")
            say(textwrap.fill(passage.text, 100, initial_indent=" " * 5, subsequent_indent=" " * 5))


def sources(answer: Answer, *, explain: bool = False) -> None:
    """What follows a streamed answer: quotes, unsupported sentences, context ledger, timings."""
    click.echo("\n")
    for citation in answer.citations:
        check = "" if citation.verified else "  (not verified)"
        say(
            f"[{citation.marker}] {_where(citation)}{citation.title}, characters "
            f"{citation.start}-{citation.end}{check}"
        )
        say(
            textwrap.fill(
                f'"{citation.quote}"', 100, initial_indent="    ", subsequent_indent="    "
            )
        )
        say(f"    {citation.path}")
    for sentence in answer.unsupported:
        say(f"No support found for: {sentence}")
    say("")
    for entry in answer.context:
        say(f"read {entry.kept:,} of {entry.tokens:,} tokens of {entry.title}")
    if explain:
        how(answer)
    spent = ", ".join(f"{name} {value:.2f} s" for name, value in answer.seconds.items())
    say(f"time: {spent}")


def how(answer: Answer) -> None:
    """How an answer was made, and the weight of each passage where they were read apart."""
    for part, state in answer.made.items():
        say(f"{part}: {state}")
    if answer.query not in {"", answer.question}:
        say(f"searched for: {answer.query}")
    for passage in answer.responsibility.passages if answer.responsibility else ():
        say(
            f"share {passage.share:.2f} (prior {passage.prior:.2f}, "
            f"posterior {passage.posterior:.2f})  {passage.title}, "
            f"characters {passage.start}-{passage.end}"
        )


def position_check(check: PositionCheck) -> None:
    """Whether the answer depends on the position of its evidence, and how it changes."""
    changed = sum(one.changed for one in check.variants)
    end = (
        "the answer does not change"
        if check.stable
        else f"{changed} of {len(check.variants)} variants CHANGE the answer"
    )
    say("")
    say(f"position check: {end} (agreement {check.agreement:.0%})")
    for one in check.variants:
        other = one.positions != check.answer.made.get("Ms-PoE", "")
        way = f"evidence {one.order}" + (f", Ms-PoE {one.positions}" if other else "")
        say(f"  {one.agreement:4.0%}  {'CHANGED  ' if one.changed else ''}{way}")
        if one.changed:
            say(textwrap.indent(textwrap.fill(one.answer.text, 90), " " * 8))
    for line in check.left_out:
        say(f"  not checked: {line}")


def entries(documents: Sequence[DocumentEntry]) -> None:
    """One line a document."""
    for entry in documents:
        part = f" ({entry.part})" if entry.part else ""
        say(
            f"{entry.id}  {entry.words:>9,} words  {entry.format:<8} {entry.title}  "
            f"{entry.path}{part}"
        )
    say(counted(len(documents), "document"))


def info(
    about: CorpusInfo, gone: Sequence[DocumentEntry], answers: str, single_tokens: str
) -> None:
    """Name and value, a line each."""
    say(f"corpus      {about.folder}")
    say(
        f"documents   {about.documents:,} ({about.passages:,} passages, {about.words:,} words, "
        f"{about.tokens:,} tokens)"
    )
    say(
        f"on disk     {about.bytes / 1e6:,.1f} MB, generation {about.generation}, "
        f"index {about.snapshot}"
    )
    if about.fingerprint:
        for name, value in about.fingerprint.as_dict().items():
            say(f"{name:<11} {value}")
    say(f"answers     {answers}")
    say(f"decoding    {single_tokens}")
    for entry in gone:
        say(f"file missing: {entry.path} (rag-app remove --missing)")


def settings(chosen: Sequence[Setting]) -> None:
    """Name, value and source, a line each, with the commands where not all agree."""
    names = [each.name for each in chosen]
    for each in chosen:
        only = f"  ({', '.join(each.commands)})" if names.count(each.name) > 1 else ""
        say(f"--{each.name:<14} {each.value!s:<18} {each.source}{only}")
    say("")


def _where(span: PassageHit | Citation) -> str:
    """Time, speaker and page of a passage or quote, as far as there are any."""
    page = f"page {span.page}" if span.page is not None else None
    named = [clock(span.time), span.speaker, page]
    return "".join(f"{name}, " for name in named if name)


def _parts(parts: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:+.2f}" for name, value in parts.items())
