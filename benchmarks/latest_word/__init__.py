"""Questions on facts that change, over made series of meetings: whether the latest word leads.

And whether what was said before stands below it, with its date; whether "in October" is answered by
what held then; and whether "how did it change?" lists what was said in its order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.progress import track

from benchmarks.folders.grading import Share
from benchmarks.latest_word.series import HALVES, SETS, Half, Series, SeriesQuestion, made_series
from generator.answer import Answer
from rag_app.corpus.corpus import Corpus

FIGURES = (
    "latest first",
    "earlier ones below, in order",
    "in a month: what held then",
    "how it changed: all, in order",
    "every quote with its date",
    "undated: says so",
)


@click.command()
@click.option("--half", type=click.Choice(SETS), help="Only this half, or the third set.")
@click.option("--seed", default=7, show_default=True)
@click.option("--show", is_flag=True, help="Each wrong answer, but for the half that is counted.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(half: Half | None, seed: int, show: bool, as_json: bool) -> None:
    """300 questions over twenty series, half of them only counted; 216 more to make rules on."""
    counts: dict[str, dict[str, list[int]]] = {}
    for each in (half,) if half else HALVES:
        counts[each] = {name: [0, 0] for name in FIGURES}
        series = list(made_series(each, seed=seed))
        for one in track(series, console=Console(stderr=True), transient=True):
            for question, answer, files in asked(one):
                for name, right in graded(question, answer, files):
                    counts[each][name][0] += right
                    counts[each][name][1] += 1
                    if show and not right and each != "counted":
                        click.echo(f"\n{name}: {question}\n{answer.text}")
    if as_json:
        click.echo(json.dumps(counts, indent=2))
        return
    click.echo(f"| | {' | '.join(counts)} |\n|---|{'---|' * len(counts)}")
    for name in FIGURES:
        click.echo(f"| {name} | {' | '.join(str(Share(*one[name])) for one in counts.values())} |")


def asked(series: Series) -> Iterator[tuple[SeriesQuestion, Answer, Sequence[str]]]:
    """Each question with its answer, and the ids of the documents in the order of the meetings."""
    with TemporaryDirectory() as folder, Corpus(Path(folder) / "corpus") as corpus:
        for name, text in series.files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        corpus.add([Path(folder) / name for name in series.files])
        ids = {Path(one.path).name: one.id for one in corpus.documents()}
        for question in series.questions:
            yield question, corpus.ask(question.text), [ids[name] for name in series.files]


def graded(
    question: SeriesQuestion, answer: Answer, files: Sequence[str]
) -> Iterator[tuple[str, bool]]:
    """Figures of one answer, by name.

    Args:
        question: What was asked.
        answer: Its answer.
        files: Ids of the documents, in the order of the meetings.
    """
    quotes = [(files.index(one.document), one.quote) for one in answer.citations]
    of_fact = (*question.values, *question.others)
    told = [one for one in quotes if any(_has(one[1], value) for value in of_fact)]
    meetings = [meeting for meeting, _ in told]
    leads = bool(quotes) and _has(quotes[0][1], question.values[-1])
    leads = leads and quotes[0][0] <= question.until
    if question.asked == "undated":
        yield "undated: says so", all(one.dated == "no date" for one in answer.citations)
        return
    yield "every quote with its date", bool(quotes) and all(one.day for one in answer.citations)
    if question.asked == "history":
        everything = all(any(_has(quote, one) for _, quote in told) for one in question.values)
        yield "how it changed: all, in order", everything and meetings == sorted(meetings)
    elif question.asked == "past":
        yield "in a month: what held then", leads
    else:
        yield "latest first", leads
        if leads and len(question.values) > 1:
            below = any(_has(quote, question.values[-2]) for _, quote in told[1:])
            in_order = meetings == sorted(meetings, reverse=True)
            yield "earlier ones below, in order", below and in_order


def _has(quote: str, value: str) -> bool:
    whole = rf"(?<![\w-]){re.escape(value)}(?![\w-])"
    return re.search(whole, " ".join(quote.split()), re.IGNORECASE) is not None
