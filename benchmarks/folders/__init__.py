"""Questions that strangers ask of their folders: how many answers the right words lead.

Eight folders (`data/folders`), each written by somebody who knew nothing of this program, with
sixty questions each. Four are to develop on. Of the other four only counts by kind are shown.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.progress import track

from benchmarks.folders.grading import Grade, Summary, grade
from benchmarks.folders.questions import (
    DEVELOPMENT,
    FOLDERS,
    KINDS,
    FolderQuestion,
    folder_names,
    folder_questions,
)
from benchmarks.folders.steps import STEPS, Loss, lost_at
from generator.answer import Mode
from generator.parts import Parts
from generator.prompt.follow_up import Turn
from generator.request import AskRequest
from generator.settings import GeneratorSettings
from indexing.models.files import DEFAULT_GENERATOR, PACKAGED_PART
from rag_app.corpus.corpus import Corpus

_HEAD = (
    "questions",
    "leads",
    "holds",
    "marked words right",
    "near misses withheld",
    "wrongly withheld",
    "seconds",
)


@click.command()
@click.option("--folder", "only", multiple=True, help="Only this folder; may be repeated.")
@click.option("--root", type=click.Path(path_type=Path), default=FOLDERS, hidden=True)
@click.option("--corpora", type=click.Path(path_type=Path), help="Keep the corpora here.")
@click.option("--generator", help="A language model that writes the answers; else quotes.")
@click.option(
    "--step",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Ask every so many questions of a folder.",
)
@click.option("--reader", default=PACKAGED_PART, help="As of `rag-app ask`.")
@click.option(
    "--where", is_flag=True, help="At which step answers are lost, of the folders to develop on."
)
@click.option("--show", is_flag=True, help="Each wrong answer (not held out).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    only: tuple[str, ...],
    root: Path,
    corpora: Path | None,
    generator: str | None,
    step: int,
    reader: str,
    where: bool,
    show: bool,
    as_json: bool,
) -> None:
    """Leads, holds, near misses withheld and seconds, by kind of question and by folder."""
    names = list(only or folder_names(root))
    if not names:
        raise click.ClickException(f"no folders in {root}")
    looks = where or show
    if looks and not set(names) <= set(DEVELOPMENT):
        names = [name for name in names if name in DEVELOPMENT]
        if only or not names:
            raise click.ClickException(f"only {', '.join(DEVELOPMENT)} are looked at one by one")
    settings = GeneratorSettings(generator or DEFAULT_GENERATOR, parts=Parts(reader=reader))
    grades: list[Grade] = []
    losses: list[tuple[FolderQuestion, Loss]] = []
    with TemporaryDirectory() as temporary:
        for name in names:
            place = (corpora or Path(temporary)) / name
            with Corpus(place, generator=settings) as corpus:
                corpus.add([root / name / "files"])
                asked = list(folder_questions(name, root))[::step]
                for one, graded, said in _asked(corpus, asked, "free" if generator else "quote"):
                    grades.append(graded)
                    wrong = one.answerable and not graded.leads
                    if looks and wrong:
                        losses.append(
                            (one, lost_at(corpus, one, request_of(one), abstained=graded.abstained))
                        )
                    if show and (wrong or (not one.answerable and not graded.abstained)):
                        loss = losses[-1][1] if wrong else Loss("abstention")
                        click.echo(_shown(one, said, loss))
    click.echo(_as_json(grades, losses) if as_json else _tables(grades, losses, where))


def request_of(question: FolderQuestion) -> AskRequest:
    """The question, after those that it leans on."""
    history = tuple(Turn(each, "") for each in question.history)
    return AskRequest(question.text, history=history)


def _asked(
    corpus: Corpus, questions: Sequence[FolderQuestion], mode: Mode
) -> Iterator[tuple[FolderQuestion, Grade, str]]:
    """Each question, the grade of its answer, and the answer."""
    for one in track(questions, console=Console(stderr=True), transient=True):
        started = time.perf_counter()
        answer = corpus.answer(replace(request_of(one), mode=mode))
        seconds = time.perf_counter() - started
        marked = f"\n  marked: {answer.short.text!r}" if answer.short else ""
        yield one, grade(one, answer, seconds), f"{answer.text}{marked}"


def _shown(question: FolderQuestion, said: str, loss: Loss) -> str:
    return (
        f"\n{question.id} {question.kind}: {question.text}\n  wanted: {question.answer}"
        f" ({question.file}: {question.quote})\n  lost at: {loss.step}: {loss.detail}\n  {said}"
    )


def _tables(
    grades: Sequence[Grade], losses: Sequence[tuple[FolderQuestion, Loss]], where: bool
) -> str:
    lines = [f"| | {' | '.join(_HEAD)} |", f"|---|{'---|' * len(_HEAD)}"]
    for name, some in _groups(grades):
        found = Summary.of(some)
        shares = (
            found.leads,
            found.holds,
            found.marked,
            found.withheld,
            found.wrongly_withheld,
        )
        cells = [str(len(some)), *map(str, shares), f"{found.seconds:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if where:
        lines += ["", "| lost at | answers | by kind |", "|---|---|---|"]
        for step in STEPS:
            kinds = [one.kind for one, loss in losses if loss.step == step]
            counts = ", ".join(f"{kind} {kinds.count(kind)}" for kind in KINDS if kind in kinds)
            lines.append(f"| {step} | {len(kinds)} | {counts} |")
    return "\n".join(lines)


def _groups(grades: Sequence[Grade]) -> Iterator[tuple[str, list[Grade]]]:
    """By kind, by folder, the folders to develop on, the others, and all."""
    for kind in KINDS:
        yield kind, [one for one in grades if one.kind == kind]
    for folder in dict.fromkeys(one.folder for one in grades):
        yield f"*{folder}*", [one for one in grades if one.folder == folder]
    seen = [one for one in grades if one.folder in DEVELOPMENT]
    unseen = [one for one in grades if one.folder not in DEVELOPMENT]
    if seen and unseen:
        yield "**to develop on**", seen
        yield "**held out**", unseen
    yield "**all**", list(grades)


def _as_json(grades: Sequence[Grade], losses: Sequence[tuple[FolderQuestion, Loss]]) -> str:
    groups = {name.strip("*"): Summary.of(some).as_json() for name, some in _groups(grades)}
    steps = {step: sum(loss.step == step for _, loss in losses) for step in STEPS}
    return json.dumps({"groups": groups, "lost": steps if losses else None}, indent=2)
