"""`rag-app serve` as a process that is started again and again, and what it holds meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from indexing.store.store import FILE_NAME

PATIENCE = 600  # seconds in which a server ends


@dataclass(frozen=True, slots=True)
class Sample:
    """What a server holds at one moment.

    Attributes:
        at: Seconds since the beginning of the measurement.
        memory: Resident megabytes of the server.
        reader: Those of the processes that it has started: the reader of files.
        handles: Open files and sockets.
        sqlite: Handles among them of the database and its log.
        threads: Of the server.
    """

    at: float
    memory: float
    reader: float
    handles: int
    sqlite: int
    threads: int


class Server:
    """A server over a corpus, at the same address after each start.

    Args:
        corpus: Its folder.
        log: File for what the server says.
        options: More of `rag-app serve`.
    """

    def __init__(self, corpus: Path, log: Path, options: Sequence[str] = ()) -> None:
        self.corpus, self.log, self._options = corpus, log, tuple(options)
        self.address, self.restarts = "", 0
        self.up = threading.Event()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        port = self.address.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "rag_app", "serve", "--api", "--mcp", "--port", port]
        with self.log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [*command, "--corpus", str(self.corpus), *self._options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("rag-app is at "), f"the server did not start; see {self.log}"
        self.address = line.split()[-1]
        self.up.set()

    def stop(self, *, kill: bool = False) -> None:
        """Stop it as Ctrl-C does, or kill it."""
        assert self._process is not None
        self.up.clear()
        self.restarts += 1
        self._process.send_signal(signal.SIGKILL if kill else signal.SIGINT)
        self._process.communicate(timeout=PATIENCE)

    def sample(self, at: float) -> Sample:
        """What it holds now."""
        assert self._process is not None
        process = psutil.Process(self._process.pid)
        database = str(self.corpus / FILE_NAME)
        children = [each.memory_info().rss for each in process.children(recursive=True)]
        return Sample(
            at=round(at, 1),
            memory=round(process.memory_info().rss / 1e6, 1),
            reader=round(sum(children) / 1e6, 1),
            handles=process.num_fds(),
            sqlite=sum(each.path.startswith(database) for each in process.open_files()),
            threads=process.num_threads(),
        )

    def complaints(self) -> list[str]:
        """Lines of its log that begin a traceback."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith("Traceback")]
