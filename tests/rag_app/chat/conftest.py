"""One served corpus for all tests of serving: small, but every part of it real."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
SERVED = ("heron-5-field-trial.vtt", "heron-6-last-of-the-year.txt")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`rag-app serve --api --mcp` over two meetings."""
    folder = tmp_path_factory.mktemp("served") / "corpus"
    with Corpus(folder) as corpus:
        corpus.add(SAMPLES / name for name in SERVED)
    command = [sys.executable, "-m", "rag_app", "serve", "--api", "--mcp", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop("RAG_APP_AUTH", None)
    with subprocess.Popen(
        [*command, "--corpus", str(folder), "--max-file-mb", "1"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith("rag-app is at http://127.0.0.1:"), line
            yield Served(line.split()[-1], folder)
        finally:
            process.terminate()
            process.wait(PATIENCE)
