"""What a command imports and computes decides how long it takes: no more than its budget has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.cold_start import BUDGETS
from rag_app.corpus.corpus import Corpus
from tests.waiting import cpu_seconds

PROGRAM = """
import sys
from rag_app.cli.main import main
try:
    main(prog_name="rag-app")
finally:
    print("imported", *{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""

TRIES = 3  # of CPU times, which other programs on the machine can only raise


@pytest.fixture(scope="module")
def corpus(samples_corpus: Corpus) -> Path:
    samples_corpus.prepare()
    return samples_corpus.folder


@pytest.mark.parametrize("name", BUDGETS)
def test_it_is_within_its_budget(name: str, corpus: Path) -> None:
    budget = BUDGETS[name]
    words = [*budget.words, *([] if name == "--help" else ["--corpus", str(corpus)])]
    for _ in range(TRIES):
        done, took = finished([PROGRAM, *words])
        *said, imported = done.stderr.splitlines()
        assert said == [] and done.stdout.strip()
        assert sorted(budget.without & set(imported.split())) == []
        _, least = finished([budget.least])
        if took <= budget.times * least:
            return
    raise AssertionError(f"{took:.2f} CPU s, where {least:.2f} times {budget.times} are allowed")


def finished(words: Sequence[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    """A Python program that was run to its end, and the CPU seconds that it took."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}
    done: list[subprocess.CompletedProcess[str]] = []

    def run() -> None:
        program = [sys.executable, "-c", *words]
        done.append(
            subprocess.run(program, capture_output=True, text=True, check=True, env=environment)
        )

    took = cpu_seconds(run)
    return done[0], took
