"""A question to a program whose models are loaded: seconds, and seconds of all cores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

import click

from benchmarks.checkouts import (
    ROOT,
    SAMPLES,
    run_command,
    running,
    sample_files,
    with_checkouts,
)

PROGRAM = """
import json, sys, time
from rag_app import Corpus
corpus = Corpus(sys.argv[1])
for line in sys.stdin:
    seconds, cpu = time.perf_counter(), time.process_time()
    answer = corpus.ask(json.loads(line), mode="quote")
    took = time.perf_counter() - seconds, time.process_time() - cpu
    print(json.dumps([*took, answer.text, answer.abstained]), flush=True)
"""
"""Questions in, one a line; what each took and its answer out. Any checkout can run it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question took.

    Attributes:
        seconds: On the clock.
        cpu: Seconds of all cores.
        text: The answer.
        abstained: Whether it is that the documents do not say.
    """

    seconds: float
    cpu: float
    text: str
    abstained: bool


@click.command()
@click.option("--questions", default=40, show_default=True, help="Of the sample questions.")
@with_checkouts
def command(questions: int, checkouts: Mapping[str, Path]) -> None:
    """Seconds of `Corpus.ask` for quotes, after two questions that load the models."""
    with TemporaryDirectory() as folder:
        run_command(ROOT, "index", *map(str, sample_files()), "--corpus", folder)
        found = measure(checkouts, Path(folder), _questions(questions + 2))
    click.echo("| checkout | median s | 95 % | CPU s, mean |\n|---|---|---|---|")
    for name, each in found.items():
        seconds = sorted(one.seconds for one in each)
        late = seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))]
        cpu = fmean(one.cpu for one in each)
        click.echo(f"| {name} | {median(seconds):.2f} | {late:.2f} | {cpu:.2f} |")
    if "before" in found:
        pairs = list(zip(found["before"], found["now"], strict=True))
        ratio = fmean(now.cpu for _, now in pairs) / fmean(old.cpu for old, _ in pairs)
        same = fmean(now.text == old.text for old, now in pairs)
        abstained = fmean(now.abstained == old.abstained for old, now in pairs)
        click.echo(f"\nCPU {ratio:.2f} of before; same text {same:.0%}, abstention {abstained:.0%}")


def _questions(most: int) -> list[str]:
    lines = (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines][:most]


def measure(
    trees: Mapping[str, Path], corpus: Path, questions: Sequence[str]
) -> dict[str, list[Asked]]:
    """What each question took in each checkout, asked in turn; the first two are not counted."""
    with ExitStack() as stack:
        programs = {
            name: stack.enter_context(running(tree, PROGRAM, str(corpus)))
            for name, tree in trees.items()
        }
        found: dict[str, list[Asked]] = {name: [] for name in trees}
        for number, question in enumerate(questions):
            for name in sorted(trees, reverse=bool(number % 2)):
                given, answered = programs[name]
                given.write(json.dumps(question) + "\n")
                given.flush()
                found[name].append(Asked(*json.loads(answered.readline())))
    return {name: each[2:] for name, each in found.items()}
