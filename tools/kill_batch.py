"""Kills a batch at random moments, again and again, and compares its end with an undisturbed run.

    python tools/kill_batch.py QUESTIONS [--corpus FOLDER] [--meetings 10] [--kills 50] [--json]

QUESTIONS is what `rag-app batch` takes. Without --corpus it is indexed first, which suits files of
QMSum. After each kill the file of answers must be whole but for its last line; no question may be
asked whose answer is in it; and in the end it must be the undisturbed file, timings aside.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from generator.answer import Answer
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from rag_app.batch.questions import Question, read_questions
from rag_app.batch.run import BatchOptions, run
from rag_app.corpus.corpus import Corpus

Json = dict[str, Any]
LIVES = 4  # kills are spread over half as many runs


class Noting(Corpus):
    """A corpus that notes on disk what it is asked, so that it is known after a kill."""

    log: Path

    def answer(self, request: AskRequest) -> Answer:
        """Note the question and its scope, then answer it."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps([request.question, list(request.where.documents)]) + "\n")
        return super().answer(request)


@dataclass(frozen=True)
class Bench:
    """What is asked of what, by forks of a process that has loaded the encoder."""

    corpus: Path
    encoder: Encoder
    questions: list[Question]
    workers: int

    def start(self, out: Path, log: Path) -> int:
        """The id of a process that runs the batch."""
        process = os.fork()
        if process:
            return process
        status = 1
        try:
            corpus = Noting(self.corpus, encoder=self.encoder)
            corpus.log = log
            run(corpus, self.questions, out, options=BatchOptions(workers=self.workers))
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)

    def until(self, process: int, seconds: float) -> int | None:
        """Its exit status if it ends by itself in this time; else it is killed, and None."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return None


def whole_lines(path: Path) -> list[Json]:
    """The records of a file, a last line without its end left out, timings aside."""
    data = path.read_bytes() if path.exists() else b""
    records = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return [{name: each[name] for name in each if name != "seconds"} for each in records]


def notes(log: Path) -> list[tuple[str, tuple[str, ...]]]:
    """What was asked, in order."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [(question, tuple(scope)) for question, scope in map(json.loads, lines)]


def asked(record: Json) -> tuple[str, tuple[str, ...]]:
    """How a record's question stands in the notes."""
    return record["question"], tuple(one["id"] for one in record["documents"])


def check(lines: list[Json], expected: list[Json]) -> None:
    """Refuse lines that the undisturbed run does not have, or has in another order."""
    there = {line["id"] for line in lines}
    wanted = [line for line in expected if line["id"] in there]
    for number, (line, other) in enumerate(zip(lines, wanted, strict=True), 1):
        assert line == other, f"line {number} differs:\n{json.dumps(line)}\n{json.dumps(other)}"


def torment(bench: Bench, folder: Path, kills: int, seed: int) -> Json:
    """Kill, compare, count."""
    draw = random.Random(seed)
    began = time.monotonic()
    assert bench.until(bench.start(folder / "whole.jsonl", folder / "whole.log"), 1e9) == 0
    seconds = time.monotonic() - began
    expected = whole_lines(folder / "whole.jsonl")
    assert len(expected) == len(bench.questions)
    killed = rounds = twice = torn = 0
    while killed < kills:
        out, log = folder / f"{rounds}.jsonl", folder / f"{rounds}.log"
        rounds += 1
        ended = None
        while ended is None:
            before = whole_lines(out)
            known = [asked(each) for each in (*before, *whole_lines(Path(f"{out}.ahead")))]
            at = len(notes(log))
            limit = draw.uniform(0, LIVES * seconds / kills) if killed < kills else 1e9
            ended = bench.until(bench.start(out, log), limit)
            killed += ended is None
            lines = whole_lines(out)
            torn += out.exists() and not out.read_bytes().endswith(b"\n") and bool(lines)
            check(lines, expected)
            assert len(lines) >= len(before), "a line was lost"
            twice += sum(each in known for each in notes(log)[at:])
        assert ended == 0, "the run failed"
        assert len(whole_lines(out)) == len(expected), "the end is missing"
        assert not list(folder.glob(f"{out.name}?*")), "something was left behind"
    return {
        "questions": len(expected),
        "kills": killed,
        "runs to the end": rounds,
        "answers asked twice": twice,
        "last lines cut off": torn,
        "seconds undisturbed": round(seconds, 1),
    }


def some(questions: list[Question], meetings: int) -> list[Question]:
    """The questions of the first so many documents."""
    kept = list(dict.fromkeys(question.document for question in questions))[:meetings]
    return [question for question in questions if question.document in kept]


def main() -> None:
    """Parse, index where needed, torment, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--meetings", type=int, default=10)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)  # threads do not survive a fork
    with TemporaryDirectory() as name:
        folder = Path(name)
        encoder = Encoder()
        if options.corpus is None:
            with Corpus(folder / "corpus", encoder=encoder) as corpus:
                corpus.add([options.questions])
        questions = some(read_questions(options.questions), options.meetings)
        bench = Bench(options.corpus or folder / "corpus", encoder, questions, options.workers)
        found = torment(bench, folder, options.kills, options.seed)
    if options.json:
        print(json.dumps(found))
    else:
        print(*(f"{name:20} {value}" for name, value in found.items()), sep="\n")


if __name__ == "__main__":
    main()
