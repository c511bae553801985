"""A model server as a process that is killed from time to time, and comes back at its address."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.soak.model_server import MODEL


class ModelProcess:
    """The process; it starts with this object.

    Attributes:
        up: Set while it runs.
        kills: How often it was killed.
    """

    def __init__(self) -> None:
        self.up = threading.Event()
        self.kills = 0
        self._port = "0"
        self.start()

    @property
    def name(self) -> str:
        """What `--generator` calls its model."""
        return f"openai:http://127.0.0.1:{self._port}/v1#{MODEL}"

    def start(self) -> None:
        """Start it, at the address that it had before."""
        program = Path(__file__).with_name("model_server.py")
        command = [sys.executable, str(program), self._port]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._port = self._process.stdout.readline().strip()
        self.up.set()

    def follow(self, share: float) -> None:
        """Kill it or start it, so that it is dead for a tenth of each tenth of a measurement.

        Args:
            share: Of the measurement that is over.
        """
        dead = 0.5 < 10 * share % 1 < 0.6
        if dead and self.up.is_set():
            self.kills += 1
            self.end()
        elif not dead and not self.up.is_set():
            self.start()

    def end(self) -> None:
        """Kill it, whatever it is doing."""
        self.up.clear()
        self._process.kill()
        self._process.communicate()
