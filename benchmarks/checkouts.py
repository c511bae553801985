"""Commands of this checkout, and of another if one is named, timed in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from time import perf_counter
from typing import IO

import click
import psutil

from rag_app.cli.option_types import gathered

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "data" / "samples"


def _checkouts(before: Path | None) -> Mapping[str, Path]:
    return {"now": ROOT} if before is None else {"before": before.resolve(), "now": ROOT}


with_checkouts = gathered(
    "checkouts",
    _checkouts,
    click.option(
        "--before",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Another checkout, to be timed in turn with this one.",
    ),
)
"""Gives a command their folders, by name."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took.

    Attributes:
        seconds: On the clock.
        cpu: Seconds of all cores.
        megabytes: Its peak.
        first: Seconds until it printed something; NaN where nobody looked, or it printed nothing.
    """

    seconds: float
    cpu: float
    megabytes: float
    first: float = nan


def sample_files() -> list[Path]:
    """The sample documents."""
    return sorted(file for file in SAMPLES.iterdir() if file.suffix != ".jsonl")


def run_command(tree: Path, *words: str) -> Run:
    """Run `rag-app` of a checkout."""
    return run([sys.executable, "-m", "rag_app", *words], tree)


@contextmanager
def served(tree: Path, corpus: str) -> Iterator[tuple[str, psutil.Process]]:
    """`rag-app serve` of a checkout once it listens: its address and its process; then ended."""
    with subprocess.Popen(
        [sys.executable, "-m", "rag_app", "serve", "--api", "--port", "0", "--corpus", corpus],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        of = psutil.Process(process.pid)
        try:
            yield process.stdout.readline().split()[-1], of
        finally:
            process.terminate()


@contextmanager
def running(tree: Path, program: str, *words: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """A Python program over a checkout: where its lines go, and where its answers come from."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdin, process.stdout
        process.stdin.close()


def run(line: Sequence[str], tree: Path) -> Run:
    """Run a process to its end, and look when it prints its first words.

    Raises:
        ClickException: It failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    started = perf_counter()
    with subprocess.Popen(line, cwd=tree, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = perf_counter() - started if process.stdout.read(1) else nan
        process.stdout.read()
        return replace(ended(process, line, started), first=first)


def ended(
    process: subprocess.Popen[str] | subprocess.Popen[bytes], line: Sequence[str], started: float
) -> Run:
    """Wait for the end of a process, and say what it took since a moment of `perf_counter`.

    Raises:
        ClickException: It failed.
    """
    _, status, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException(f"{' '.join(line)} ended with {process.returncode}")
    peak = usage.ru_maxrss / 1e6 if sys.platform == "darwin" else usage.ru_maxrss * 1024 / 1e6
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak)
