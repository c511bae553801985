"""Questions per hour of a batch, beside the same questions one by one.

Three modes are timed in turn, meeting by meeting, so that other load weighs on each alike: the
batch; a `Corpus` opened for each question; and `rag-app ask` for the first question of each
meeting, a process each. Answers of the first two must be the same.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from indexing.encoder.encoder import Encoder
from rag_app.batch.asking import ask_one
from rag_app.batch.questions import Question, read_questions
from rag_app.batch.run import run
from rag_app.batch.scope import CurrentDocuments
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus


@dataclass
class Throughput:
    """Questions asked, and the time they took.

    Attributes:
        questions: How many.
        wall: Seconds of wall-clock time.
        cpu: Seconds of CPU time, child processes included.
    """

    questions: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def timing(self, questions: int) -> Iterator[None]:
        """Add the time of the block."""
        wall, cpu = time.perf_counter(), cpu_seconds()
        yield
        self.questions += questions
        self.wall += time.perf_counter() - wall
        self.cpu += cpu_seconds() - cpu

    def as_dict(self) -> dict[str, float]:
        """Values for JSON."""
        return {
            "questions": self.questions,
            "per hour": round(3600 * self.questions / self.wall),
            "cpu seconds each": round(self.cpu / self.questions, 2),
        }


def cpu_seconds() -> float:
    """CPU seconds of this process and of its finished children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def compare(folder: Path, questions: list[Question], encoder: Encoder) -> dict[str, Throughput]:
    """The throughput of each mode."""
    modes = {name: Throughput() for name in ("batch", "one by one", "a process each")}
    with TemporaryDirectory() as name, Corpus(folder, encoder=encoder) as corpus:
        corpus.ask(questions[0].text)  # warm-up
        for number, (_, each) in enumerate(groupby(questions, key=lambda one: one.document)):
            group, out = list(each), Path(name) / f"{number}.jsonl"
            with modes["batch"].timing(len(group)):
                run(corpus, group, out)
            answers = []
            with modes["one by one"].timing(len(group)):
                for question in group:
                    with Corpus(folder, encoder=encoder) as fresh:
                        answers.append(ask_one(CurrentDocuments(fresh), question).answer)
            records = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
            assert [record["answer"] for record in records] == [one.text for one in answers if one]
            with modes["a process each"].timing(1):
                ask_in_process(folder, group[0], records[0]["documents"][0]["id"])
    return modes


def ask_in_process(folder: Path, question: Question, document: str) -> None:
    """`rag-app ask`, from start to exit."""
    words = ["ask", question.text, "--document", document, "--corpus", str(folder)]
    command = [sys.executable, "-m", "rag_app", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@click.command
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("--corpus", "folder", type=click.Path(path_type=Path), required=True)
@click.option("--limit", type=int, default=12, show_default=True, help="Questions to ask.")
@with_json
def command(questions: Path, folder: Path, limit: int, as_json: bool) -> None:
    """Questions per hour of a batch, beside the same questions one by one."""
    modes = compare(folder, read_questions(questions)[:limit], Encoder())
    report = {name: each.as_dict() for name, each in modes.items()}
    print_result(as_json, report, lambda: click.echo("\n".join(_lines(report))))


def _lines(report: dict[str, dict[str, float]]) -> Iterator[str]:
    for mode, values in report.items():
        times = values["cpu seconds each"] / report["batch"]["cpu seconds each"]
        yield f"{mode:15} {' '.join(f'{v} {name},' for name, v in values.items())} x {times:.1f}"
