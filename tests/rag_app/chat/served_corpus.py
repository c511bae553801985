"""What the tests of serving share: a running server, and a document that would do harm."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from tests.rag_app.chat.server_forks import SLOW
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[3]
QUIET_GRADIO = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}

# A document that would do harm wherever its text became HTML, a template, Markdown or a link.
HOSTILE = (
    "Mallory: The zeppelin budget is <img src=x onerror=\"window.harmed='img'\"> forty crowns. "
    "<script>window.harmed='script'</script> The zeppelin ${window.harmed='template'} lands at "
    "{{constructor.constructor('window.harmed=1')()}} noon. ![i](http://evil.invalid/i.png) "
    "The zeppelin crew is [free](javascript:window.harmed='link') on Friday. </p></article> [1]\n"
)


@dataclass(frozen=True)
class Served:
    """A running server."""

    address: str
    folder: Path

    @property
    def slow(self) -> Path:
        """A file; while it is there, generated answers end only when they are stopped."""
        return self.folder.parent / "slow"


def _login(options: tuple[str, ...]) -> tuple[str, str] | None:
    """Somebody who may log in, where anybody has to."""
    if "--auth-file" not in options:
        return None
    logins = Path(options[options.index("--auth-file") + 1]).read_text()
    user, _, password = logins.splitlines()[0].partition(":")
    return user, password


class ServerForks:
    """A process that has imported what servers need, and forks them."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.rag_app.chat.server_forks"]
        environment = {**os.environ, **QUIET_GRADIO, "PYTHONUNBUFFERED": "1"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=environment
        )
        assert self._answer() == "ready"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def _ask(self, job: dict[str, object]) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return json.loads(self._answer())

    def start(self, words: list[str], out: Path, environment: dict[str, str]) -> int:
        """The id of a process that is `rag-app` with these words, and writes into a file."""
        return int(self._ask({"words": words, "out": str(out), "environment": environment}))

    def end(self, process: int) -> None:
        """End a process of these."""
        os.kill(process, signal.SIGTERM)
        wait_until(lambda: self._ask({"ended": process}))

    def close(self) -> None:
        """End the process that forks."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._process.stdout.close()


@cache
def server_forks() -> ServerForks:
    """One for all servers of a run."""
    forks = ServerForks()
    atexit.register(forks.close)
    return forks


@contextmanager
def serve(folder: Path, *options: str) -> Iterator[Served]:
    """`rag-app serve --api --mcp` over a corpus, once its page is there."""
    words = ["serve", "--api", "--mcp", "--port", "0", "--corpus", str(folder)]
    environment = {**os.environ, **QUIET_GRADIO, "GRADIO_TEMP_DIR": str(folder / ".gradio")}
    environment.pop("RAG_APP_AUTH", None)
    environment[SLOW] = str(folder.parent / "slow")
    out = folder.parent / "served.log"
    out.unlink(missing_ok=True)
    forks = server_forks()
    words += ["--max-file-mb", "1", "--measurements"]
    process = forks.start([*words, *options], out, environment)
    try:
        wait_until(lambda: out.exists() and "\n" in out.read_text())
        line = out.read_text().splitlines()[0]
        assert line.startswith("rag-app is at http://127.0.0.1:"), line
        address = line.split()[-1]
        httpx.get(address, auth=_login(options), timeout=PATIENCE).raise_for_status()
        yield Served(address, folder)
    finally:
        forks.end(process)
