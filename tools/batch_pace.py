"""Questions an hour of a batch, beside asking the same questions one by one.

    python tools/batch_pace.py QUESTIONS --corpus FOLDER [--limit 12] [--json]

Three ways are timed in turn, meeting by meeting, so that a busy machine is as busy for each: the
batch; `Corpus.ask` for each question, nothing kept between two; and `rag-app ask` for the first
question of each meeting, a process each. Answers of the first two must be the same.
"""

from __future__ import annotations

import argparse
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

from indexing.encoder.encoder import Encoder
from rag_app.batch.asking import ask_one
from rag_app.batch.questions import Question, read_questions
from rag_app.batch.run import run
from rag_app.corpus.corpus import Corpus


@dataclass
class Pace:
    """Questions asked, and what they took.

    Attributes:
        questions: How many.
        wall: Seconds that passed.
        processor: Seconds of processor time, of processes that were started too.
    """

    questions: int = 0
    wall: float = 0.0
    processor: float = 0.0

    @contextmanager
    def timing(self, questions: int) -> Iterator[None]:
        """Add what happens inside."""
        wall, processor = time.perf_counter(), used()
        yield
        self.questions += questions
        self.wall += time.perf_counter() - wall
        self.processor += used() - processor

    def as_dict(self) -> dict[str, float]:
        """Rates."""
        return {
            "questions": self.questions,
            "an hour": round(3600 * self.questions / self.wall),
            "processor seconds each": round(self.processor / self.questions, 2),
        }


def used() -> float:
    """Processor seconds of this process and of those it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def compare(folder: Path, questions: list[Question], encoder: Encoder) -> dict[str, Pace]:
    """The pace of each way."""
    paces = {way: Pace() for way in ("batch", "one by one", "a process each")}
    with TemporaryDirectory() as name, Corpus(folder, encoder=encoder) as corpus:
        corpus.ask(questions[0].text)  # what is loaded once is loaded
        for number, (_, each) in enumerate(groupby(questions, key=lambda one: one.document)):
            asked, out = list(each), Path(name) / f"{number}.jsonl"
            with paces["batch"].timing(len(asked)):
                run(corpus, asked, out)
            told = []
            with paces["one by one"].timing(len(asked)):
                for question in asked:
                    with Corpus(folder, encoder=encoder) as fresh:
                        told.append(ask_one(fresh, question).answer)
            lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
            assert [line["answer"] for line in lines] == [one.text for one in told if one]
            with paces["a process each"].timing(1):
                ask_alone(folder, asked[0], lines[0]["documents"][0]["id"])
    return paces


def ask_alone(folder: Path, question: Question, document: str) -> None:
    """`rag-app ask`, from its start to its end."""
    words = ["ask", question.text, "--document", document, "--corpus", str(folder)]
    command = [sys.executable, "-m", "rag_app", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Parse, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=12, help="questions, at least of one meeting")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    questions = read_questions(options.questions)[: options.limit]
    paces = compare(options.corpus, questions, Encoder())
    found = {way: pace.as_dict() for way, pace in paces.items()}
    if options.json:
        print(json.dumps(found))
        return
    for way, rates in found.items():
        times = rates["processor seconds each"] / found["batch"]["processor seconds each"]
        print(f"{way:15}", *(f"{value} {name}," for name, value in rates.items()), f"x {times:.1f}")


if __name__ == "__main__":
    main()
