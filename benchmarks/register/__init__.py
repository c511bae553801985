"""The register of meetings against marks: entries, who, until when, what became of it.

Of twelve made meetings, or of eighty real ones; half of them are to develop on, half are only
counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.folders.grading import Share
from benchmarks.register.marks import Mark, marked
from benchmarks.register.real_meetings import figures_of
from generator.register.entry import Entry, Matter
from generator.register.register import register
from indexing.documents import Document
from indexing.files import FileReader

HALVES = ("developing", "counted")
_MEETINGS = Path(__file__).with_name("meetings")
_KINDS = {"a": "action", "d": "decision", "q": "question"}

Figure = tuple[str, bool, str]
"""Its name, whether it holds, and what it is of."""


@click.command()
@click.option("--half", type=click.Choice(HALVES), help="Only this half.")
@click.option("--show", is_flag=True, help="Whatever is wrong in the half to develop on.")
@click.option(
    "--qmsum",
    type=click.Path(path_type=Path, exists=True),
    help="Instead, eighty meetings of QMSum's training split, this file, as readers marked them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(half: str | None, show: bool, qmsum: Path | None, as_json: bool) -> None:
    """Precision and recall of entries, and of those found: who, until when, chained, state."""
    halves = (half,) if half else HALVES
    counts: dict[str, dict[str, list[int]]] = {each: {} for each in halves}
    for each in halves:
        for name, right, about in figures_of(each, qmsum) if qmsum else figures(each):
            count = counts[each].setdefault(name, [0, 0])
            count[0] += right
            count[1] += 1
            if show and not right and each == "developing":
                click.echo(f"{name}: {about}")
    if as_json:
        click.echo(json.dumps(counts, indent=2))
        return
    click.echo(f"| | {' | '.join(counts)} |\n|---|{'---|' * len(counts)}")
    for name in dict.fromkeys(name for each in counts.values() for name in each):
        shares = (Share(*each.get(name, [0, 0])) for each in counts.values())
        click.echo(f"| {name} | {' | '.join(map(str, shares))} |")


def figures(half: str) -> Iterator[Figure]:
    """Every figure of the meetings of a half."""
    marks, documents = [], []
    with TemporaryDirectory() as folder, FileReader() as reader:
        for source in sorted((_MEETINGS / half).iterdir()):
            text, of_text = marked(source.read_text("utf-8"), source.name)
            file = Path(folder) / source.name
            file.write_text(text, "utf-8")
            (document,) = reader.read(file)
            assert isinstance(document, Document) and document.text == text
            documents.append(document)
            marks += of_text
    files = {one.id: Path(one.path).name for one in documents}
    people = {name for one in documents for name in (*one.speakers, *one.occasion.participants)}
    yield from graded(marks, list(register(documents, people)), files)


def graded(marks: list[Mark], matters: list[Matter], files: dict[str, str]) -> Iterator[Figure]:
    """Figures of a register.

    Args:
        marks: What it should find.
        matters: What it found.
        files: Names of the files, by document.
    """
    entries = [(entry, matter) for matter in matters for entry in matter.entries]
    found: dict[Mark, tuple[Entry, Matter]] = {}
    for entry, matter in entries:
        mark = next((one for one in marks if _is(one, entry, files[entry.document])), None)
        yield "entries that are right (precision)", mark is not None, _line(entry)
        if mark is not None:
            found.setdefault(mark, (entry, matter))
    for mark in marks:
        kind = _KINDS.get(mark.kind, "outcome")
        yield f"{kind}s found (recall)", mark in found, mark.text
        if mark.kind != "u":
            yield "entries found (recall)", mark in found, mark.text
        if mark in found and mark.kind == "a":
            entry, _ = found[mark]
            yield "who is right", entry.who == mark.who, f"{entry.who}: {mark.text}"
            until = _same_words(entry.until, mark.until)
            yield "until when is right", until, f"{entry.until}: {mark.text}"
            yield "the day of it is right", entry.due == mark.due, f"{entry.due}: {mark.text}"
    yield from _of_matters(marks, found)


def _of_matters(marks: Iterable[Mark], found: dict[Mark, tuple[Entry, Matter]]) -> Iterator[Figure]:
    by_matter: dict[str, list[Mark]] = {}
    for mark in marks:
        by_matter.setdefault(mark.matter, []).append(mark)
    for of_matter in by_matter.values():
        first, *later = of_matter
        if first not in found:
            continue
        matter = found[first][1]
        for mark in later:
            chained = mark in found and found[mark][1] is matter
            yield "later sentences in the chain", chained, mark.text
        right = matter.state == (later[-1].tells if later else "open")
        yield "state of a matter is right", right, f"{matter.state}: {first.text}"
        if matter.state != "open":
            told = matter.entries[-1].quote.text
            yield "states other than open that are right", right, f"{matter.state}: {told}"


def _is(mark: Mark, entry: Entry, file: str) -> bool:
    """Whether an entry is a marked sentence, at least half of it, and of its kind."""
    shared = min(mark.end, entry.quote.end) - max(mark.start, entry.quote.start)
    of_kind = mark.kind == "u" or _KINDS[mark.kind] == entry.kind
    return mark.file == file and of_kind and 2 * shared >= mark.end - mark.start


def _same_words(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return bool(one) == bool(other) and (one in other or other in one)


def _line(entry: Entry) -> str:
    return f"{entry.kind} {entry.tells}: {entry.quote.text}"
