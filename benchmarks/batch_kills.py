"""Crash campaign: kill a batch at random moments, resume it, compare its end with an unkilled run.

After each kill the file of answers must be whole but for its last line; no question may be asked
whose answer is in it; and in the end it must be the reference file, timings aside.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from generator.answer import Answer
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question, read_questions
from rag_app.batch.run import run
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus

Json = dict[str, Any]
Key = tuple[str, tuple[str, ...]]  # a question and the ids of its documents
MODULES = (  # what the batch imports beside the encoder, once for all processes
    "generator.extractive.context.contextual_model",
    "generator.generator",
    "generator.reader.cross_encoder",
    "rag_app.corpus.question_answering",
    "rag_app.requests.router",
)
RUNS = 4  # kills are spread over half as many runs


class LoggingCorpus(Corpus):
    """A corpus that logs its questions on disk, where they outlive a kill."""

    log: Path

    def answer(self, request: AskRequest) -> Answer:
        """Log the question and its documents, then answer it."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps([request.question, list(request.where.documents)]) + "\n")
        return super().answer(request)


@dataclass(frozen=True)
class Batch:
    """A batch, run in forks of a process that has loaded the encoder."""

    corpus: Path
    encoder: Encoder
    questions: list[Question]
    workers: int

    def start(self, out: Path, log: Path) -> int:
        """Start the batch in a process; its id."""
        import torch

        process = os.fork()
        if process:
            return process
        status = 1
        torch.set_num_threads(1)  # makes the pool anew, which two threads at once would not
        try:
            corpus = LoggingCorpus(self.corpus, encoder=self.encoder)
            corpus.log = log
            run(corpus, self.questions, out, options=BatchOptions(workers=self.workers))
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)

    def wait_or_kill(self, process: int, seconds: float) -> int | None:
        """The exit status if the process ends in time; else kill it and return None."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            finished, status = os.waitpid(process, os.WNOHANG)
            if finished:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return None


def read_records(path: Path) -> list[Json]:
    """The complete records of a file, without timings; a torn last line is ignored."""
    data = path.read_bytes() if path.exists() else b""
    records = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return [{name: each[name] for name in each if name != "seconds"} for each in records]


def read_log(log: Path) -> list[Key]:
    """The questions in the log, in order."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [(question, tuple(scope)) for question, scope in map(json.loads, lines)]


def key(record: Json) -> Key:
    """A record's question, as it stands in the log."""
    return record["question"], tuple(one["id"] for one in record["documents"])


def check(records: list[Json], expected: list[Json]) -> None:
    """Refuse records that the reference run does not have, or has in another order."""
    ids = {record["id"] for record in records}
    subset = [record for record in expected if record["id"] in ids]
    for number, (record, other) in enumerate(zip(records, subset, strict=True), 1):
        assert record == other, f"line {number} differs:\n{json.dumps(record)}\n{json.dumps(other)}"


def run_campaign(batch: Batch, folder: Path, kills: int, seed: int) -> Json:
    """Kill, resume, compare, count."""
    draw = random.Random(seed)
    started = time.monotonic()
    reference = folder / "reference.jsonl"
    assert batch.wait_or_kill(batch.start(reference, folder / "reference.log"), 1e9) == 0
    seconds = time.monotonic() - started
    expected = read_records(reference)
    assert len(expected) == len(batch.questions)
    killed = runs = repeated = torn = 0
    while killed < kills:
        out, log = folder / f"{runs}.jsonl", folder / f"{runs}.log"
        runs += 1
        status = None
        while status is None:
            before = read_records(out)
            answered = {key(each) for each in (*before, *read_records(Path(f"{out}.ahead")))}
            logged = len(read_log(log))
            limit = draw.uniform(0, RUNS * seconds / kills) if killed < kills else 1e9
            status = batch.wait_or_kill(batch.start(out, log), limit)
            killed += status is None
            records = read_records(out)
            torn += out.exists() and not out.read_bytes().endswith(b"\n") and bool(records)
            check(records, expected)
            assert len(records) >= len(before), "a line was lost"
            repeated += sum(each in answered for each in read_log(log)[logged:])
        assert status == 0, "the run failed"
        assert len(read_records(out)) == len(expected), "the end is missing"
        assert not list(folder.glob(f"{out.name}?*")), "a temporary file remains"
    return {
        "questions": len(expected),
        "kills": killed,
        "runs to the end": runs,
        "answers asked twice": repeated,
        "last lines cut off": torn,
        "seconds undisturbed": round(seconds, 1),
    }


def first_documents(questions: list[Question], limit: int) -> list[Question]:
    """The questions of the first so many documents."""
    documents = list(dict.fromkeys(question.document for question in questions))[:limit]
    return [question for question in questions if question.document in documents]


@click.command
@click.argument("questions", type=click.Path(path_type=Path))
@click.option(
    "--corpus",
    "folder",
    type=click.Path(path_type=Path),
    help="Where QUESTIONS' documents are indexed.  [default: QUESTIONS is indexed, as for QMSum]",
)
@click.option("--meetings", type=int, default=10, show_default=True, help="Documents to ask about.")
@click.option("--kills", type=int, default=50, show_default=True)
@click.option("--workers", type=int, default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@with_json
def command(
    questions: Path,
    folder: Path | None,
    meetings: int,
    kills: int,
    workers: int,
    seed: int,
    as_json: bool,
) -> None:
    """Kill a batch at random moments and compare its end with an unkilled run."""
    import torch

    torch.set_num_threads(1)  # threads do not survive a fork
    with TemporaryDirectory() as name:
        encoder = Encoder()
        for module in MODULES:
            import_module(module)
        if folder is None:
            folder = Path(name) / "corpus"
            with Corpus(folder, encoder=encoder) as corpus:
                corpus.add([questions])
        sample = first_documents(read_questions(questions), meetings)
        batch = Batch(folder, encoder, sample, workers)
        report = run_campaign(batch, Path(name), kills, seed)
    lines = (f"{name:20} {value}" for name, value in report.items())
    print_result(as_json, report, lambda: click.echo("\n".join(lines)))
