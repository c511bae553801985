"""What the server does not offer, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE


def test_nothing_that_changes_the_corpus_has_a_public_name(served: Served) -> None:
    info = httpx.get(f"{served.address}/gradio_api/info", timeout=PATIENCE).json()
    assert info == {"named_endpoints": {}, "unnamed_endpoints": {}}
    assert httpx.delete(f"{served.address}/files", timeout=PATIENCE).status_code in {404, 405}
    assert httpx.post(f"{served.address}/gradio_api/upload", timeout=PATIENCE).status_code == 404


def test_the_page_describes_its_requests_to_nobody(served: Served) -> None:
    for path in ("/openapi.json", "/gradio_api/openapi.json", "/docs", "/redoc"):
        assert httpx.get(f"{served.address}{path}", timeout=PATIENCE).status_code == 404, path


def test_a_server_that_is_stopped_while_it_loads_models_says_so_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The probe fell into the lake.")
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add([tmp_path / "a.txt"])
    command = [sys.executable, "-m", "rag_app", "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--corpus", str(tmp_path / "corpus")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("rag-app is at ")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (130, "rag-app: stopped\n")
