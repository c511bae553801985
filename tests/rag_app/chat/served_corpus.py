"""What the tests of serving share: a running server, and a document that would do harm."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.waiting import PATIENCE

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


def _login(options: tuple[str, ...]) -> tuple[str, str] | None:
    """Somebody who may log in, where anybody has to."""
    if "--auth-file" not in options:
        return None
    logins = Path(options[options.index("--auth-file") + 1]).read_text()
    user, _, password = logins.splitlines()[0].partition(":")
    return user, password


@contextmanager
def serve(folder: Path, *options: str) -> Iterator[Served]:
    """`rag-app serve --api --mcp` over a corpus, once its page is there."""
    command = [sys.executable, "-m", "rag_app", "serve", "--api", "--mcp", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop("RAG_APP_AUTH", None)
    with subprocess.Popen(
        [*command, "--corpus", str(folder), "--max-file-mb", "1", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith("rag-app is at http://127.0.0.1:"), line
            address = line.split()[-1]
            httpx.get(address, auth=_login(options), timeout=PATIENCE).raise_for_status()
            yield Served(address, folder)
        finally:
            process.terminate()
            process.wait(PATIENCE)
