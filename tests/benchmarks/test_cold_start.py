"""What a command imports decides how long it takes to start: no more than its budget has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cold_start import BUDGETS
from rag_app.corpus.corpus import Corpus

PROGRAM = """
import sys
from rag_app.cli.main import main
try:
    main(prog_name="rag-app")
finally:
    print("imported", *{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def corpus(samples_corpus: Corpus) -> Path:
    samples_corpus.prepare()
    return samples_corpus.folder


@pytest.mark.parametrize("name", BUDGETS)
def test_imports_are_within_the_budget(name: str, corpus: Path) -> None:
    budget = BUDGETS[name]
    words = [*budget.words, *([] if name == "--help" else ["--corpus", str(corpus)])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    *said, imported = done.stderr.splitlines()
    assert said == [] and done.stdout.strip()
    assert sorted(budget.without & set(imported.split())) == []
