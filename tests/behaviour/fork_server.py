"""Loads an encoder once, then forks a process for each job, so that jobs start at once.

Reads lines of JSON from standard input, {"do", "corpus", "files", "stop"}; answers each with
the process id of the job, and later with its exit status when it is asked to {"do": "wait"}.
A job that is given "stop" kills itself before so many calls that write: SQL statements, files
opened, renamed or removed. One that is not is killed from outside, or goes on to its end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.index_report import Progress
from rag_app.corpus.corpus import Corpus

WRITES = frozenset(
    ("execute", "executemany", "write", "rename", "mkdir", "rmdir", "unlink", "open")
)


class Deadline:
    """Counts writing calls, and ends the process with the last one that it is given."""

    def __init__(self, left: int | None) -> None:
        self.left = left
        self.seen = 0

    def __call__(self, frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and getattr(called, "__name__", "") in WRITES:
            self.seen += 1
            if self.left is not None and self.seen >= self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def index(job: dict[str, str], encoder: Encoder) -> int:
    """Index a folder; where writing calls are counted, a file `calls` says how many it took."""
    stop = job["stop"]
    counter = Deadline(int(stop) if stop else None)
    with Corpus(job["corpus"], encoder=encoder) as corpus:
        if stop:
            sys.setprofile(counter)
        corpus.add([job["files"]])
        sys.setprofile(None)
    if stop:
        Path(job["corpus"], "calls").write_text(str(counter.seen))
    return 0


def hold(job: dict[str, str], encoder: Encoder) -> int:
    """Index a folder, but stop with the first progress until a file `go` appears beside it."""
    go = Path(job["files"], "go")

    def wait(_: Progress) -> None:
        Path(job["files"], "held").touch()
        while not go.exists():
            time.sleep(0.01)

    with Corpus(job["corpus"], encoder=encoder) as corpus:
        corpus.add([job["files"]], progress=wait)
    return 0


def rewrite(job: dict[str, str], encoder: Encoder) -> int:
    """Change every file again and again, and index after each change, until `go` appears."""
    files, turn = sorted(Path(job["files"]).glob("*.txt")), 0
    with Corpus(job["corpus"], encoder=encoder) as corpus:
        while not Path(job["files"], "go").exists():
            file, turn = files[turn % len(files)], turn + 1
            file.write_text(f"{'Padding. ' * (turn % 9)}Turn {turn} of {file.stem}. A probe fell.")
            corpus.add([file])
            if turn % 4 == 0:
                corpus.remove([file])
    return 0


def main() -> None:
    """Serve until standard input ends."""
    encoder = Encoder(EncoderSettings(dtype="float32", max_length=64))
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        if job["do"] == "wait":
            print(os.waitstatus_to_exitcode(os.waitpid(job["process"], 0)[1]), flush=True)
            continue
        process = os.fork()
        if not process:
            os._exit({"index": index, "hold": hold, "rewrite": rewrite}[job["do"]](job, encoder))
        print(process, flush=True)


if __name__ == "__main__":
    main()
