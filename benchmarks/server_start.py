"""From `rag-app serve` to its address, its page and its first answer: time and work of each."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click

from benchmarks.checkouts import ROOT, run_command, sample_files, served, with_checkouts

QUESTION = "Why was the budget cut?"
STEPS = ("listens", "page", "first answer")


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step was reached.

    Attributes:
        seconds: On the clock, since the command was given.
        cpu: Seconds of all cores by then.
        megabytes: Of memory then.
    """

    seconds: float
    cpu: float
    megabytes: float


@click.command()
@click.option("--rounds", default=3, show_default=True, help="The best of each step counts.")
@with_checkouts
def command(rounds: int, checkouts: Mapping[str, Path]) -> None:
    """When a server listens, when its page is there, and when a question is answered.

    The page and the question are asked for as soon as it listens.
    """
    with TemporaryDirectory() as folder:
        corpus = str(Path(folder) / "corpus")
        run_command(ROOT, "index", *map(str, sample_files()), "--corpus", corpus)
        runs: dict[str, list[list[Moment]]] = {name: [] for name in checkouts}
        for _ in range(rounds):
            for name, tree in checkouts.items():
                runs[name].append([*moments(tree, corpus)])
    click.echo("| checkout | step | s | CPU s | MB |\n|---|---|---|---|---|")
    for name, each in runs.items():
        for step, same in zip(STEPS, zip(*each, strict=True), strict=True):
            click.echo(
                f"| {name} | {step} | {min(one.seconds for one in same):.2f} | "
                f"{min(one.cpu for one in same):.2f} | {max(one.megabytes for one in same):.0f} |"
            )


def moments(tree: Path, corpus: str) -> Iterator[Moment]:
    """Start a server of a checkout, and stop it after its first answer."""
    started = perf_counter()
    with served(tree, corpus) as (address, of):

        def now() -> Moment:
            used = of.cpu_times()
            memory = of.memory_info().rss / 1e6
            return Moment(perf_counter() - started, used.user + used.system, memory)

        yield now()
        _get(address)
        yield now()
        messages = [{"role": "user", "content": QUESTION}]
        _get(f"{address}/v1/chat/completions", {"model": "rag-app", "messages": messages})
        yield now()


def _get(address: str, body: object = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as response:
        response.read()
