"""Questions and judgements by a larger model, written line by line; goes on where it was stopped.

    python training/teacher/teach.py meetings MODEL.gguf DATA/qmsum/train.jsonl --out FILE.jsonl
    python training/teacher/teach.py judge MODEL.gguf DATA/reading/train.jsonl.gz --out FILE.jsonl

`meetings` asks for one question, one utterance and one beginning at a time, and keeps what the
model itself agrees with: that the part of the meeting answers it, and without the utterance does
not. `judge` asks it of questions and near misses by people, and says how well it tells them apart.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from teacher import Teacher

from rag_app.batch.qmsum import Meeting, meetings

BEGINNINGS = ("Who", "When", "How many", "Why", "What was decided about", "What will", "Which")
AGREES = 1.0  # log-odds that the utterance must add, from which a question is kept
AROUND = 4  # utterances before and after

_WORDS = (10, 60)  # of an utterance
_NEAR_MISSES = "squad2-half"


@click.group()
def main() -> None:
    """Ask a larger model."""


def _shared(command: Any) -> Any:  # noqa: ANN401 - a decorator
    for option in (
        click.argument("data", type=click.Path(path_type=Path, exists=True)),
        click.argument("model", type=click.Path(path_type=Path, exists=True)),
        click.option("--out", type=click.Path(path_type=Path), required=True),
        click.option("--most", type=click.IntRange(min=1), default=1_000_000, help="Lines in all."),
        click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True),
    ):
        command = option(command)
    return command


@main.command("meetings")
@_shared
def of_meetings(data: Path, model: Path, out: Path, most: int, threads: int) -> None:
    """Write questions on utterances of meetings, with the odds that they are answered."""
    teacher = Teacher(model, threads=threads)
    for number, (meeting, at) in _left(_utterances(data), out, most):
        around = meeting.document.utterances[max(0, at - AROUND) : at + AROUND + 1]
        said = [_said(meeting, each) for each in around]
        own = _said(meeting, meeting.document.utterances[at])
        begin = BEGINNINGS[number % len(BEGINNINGS)]
        question = teacher.question("\n".join(said), own, begin)
        row: dict[str, Any] = {"meeting": meeting.document.title, "turn": at, "question": question}
        if question:
            others = [each for each in said if each != own]
            row["with"] = round(teacher.answers("\n".join(said), question), 3)
            row["without"] = round(teacher.answers("\n".join(others), question), 3)
            row["kept"] = row["with"] > 0 and row["with"] - row["without"] > AGREES
        _write(out, row)


@main.command("judge")
@_shared
def judge(data: Path, model: Path, out: Path, most: int, threads: int) -> None:
    """Judge people's questions and near misses, and say how well they are told apart."""
    teacher = Teacher(model, threads=threads)
    for _, (text, question) in _left(_near_misses(data), out, most):
        odds = round(teacher.answers(text, question["question"]), 3)
        _write(out, {"id": question["id"], "odds": odds, "answered": bool(question["answers"])})
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    right, wrong = (
        [row["odds"] for row in rows if row["answered"] is kind] for kind in (True, False)
    )
    pairs = [(a > b) + 0.5 * (a == b) for a in right for b in wrong]
    if pairs:
        click.echo(f"ROC AUC {sum(pairs) / len(pairs):.3f} of {len(right)} and {len(wrong)}")


def _left(items: Iterator[Any], out: Path, most: int) -> Iterator[tuple[int, Any]]:
    """What is not in the file yet, with its number."""
    out.parent.mkdir(parents=True, exist_ok=True)
    done = len(out.read_text("utf-8").splitlines()) if out.exists() else 0
    for number, item in enumerate(items):
        if number >= most:
            return
        if number >= done:
            yield number, item


def _write(out: Path, row: dict[str, Any]) -> None:
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _utterances(data: Path) -> Iterator[tuple[Meeting, int]]:
    """Utterances of some length, of all meetings, in a fixed random order."""
    found = [
        (meeting, at)
        for meeting in meetings(data)
        for at, each in enumerate(meeting.document.utterances)
        if _WORDS[0] <= len(_said(meeting, each).split()) <= _WORDS[1]
    ]
    random.Random(1).shuffle(found)
    return iter(found)


def _said(meeting: Meeting, utterance: Any) -> str:  # noqa: ANN401 - of the dataset
    return meeting.document.text[utterance.start : utterance.end]


def _near_misses(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Questions of SQuAD 2.0 on their passages, in a fixed random order."""
    with gzip.open(data, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    found = [
        (record["text"], question)
        for record in records
        if record["source"] == _NEAR_MISSES
        for question in record["questions"]
    ]
    random.Random(1).shuffle(found)
    return iter(found)


if __name__ == "__main__":
    main()
