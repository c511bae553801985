"""The file of answers under kills, with no model in the way: hundreds in seconds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rag_app.batch.answer_file import AnswerFile, Key

ROOT = Path(__file__).resolve().parents[2]
KEYS: list[Key] = [(f"q{n}", "Why?", None) for n in range(60)]
ORDER = [key[0] for key in KEYS]


def record(key: Key) -> dict[str, Any]:
    return {
        "id": key[0],
        "question": key[1],
        "document": key[2],
        "documents": [],
        "error": None,
        "fingerprint": "a-b",
        "settings": {
            "version": "1",
            "k": 5,
            "generator": {"answer": "quote", "model": ""},
            "encoder": {},
        },
        "answer": key[0] * 400,
        "citations": [],
        "unsupported": [],
        "context": [],
        "mode": "quote",
    }


WHOLE = b"".join(json.dumps(record(key)).encode() + b"\n" for key in KEYS)


def fill(out: Path, log: Path, seed: int) -> None:
    """Add what is missing, up to three out of their turn, and note each."""
    draw = random.Random(seed)
    with AnswerFile(out, KEYS) as file, log.open("a") as notes:
        todo = [key for key in KEYS if key not in file.lines]
        while todo:
            key = todo.pop(draw.randrange(min(3, len(todo))))
            file.add(key, record(key))
            notes.write(f"{key[0]}\n")
            notes.flush()


def life(out: Path, log: Path, seed: int, seconds: float | None) -> int:
    """The status of a process that fills the file, killed after some time or not at all."""
    process = os.fork()
    if not process:
        status = 1
        try:
            fill(out, log, seed)
            status = 0
        finally:
            os._exit(status)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def torment(folder: Path, kills: int) -> None:
    """Kill and start again; at every moment the lines stand in order, in the end all are there."""
    draw, killed, runs = random.Random(5), 0, 0
    while killed < kills:
        out, log = folder / f"{runs}.jsonl", folder / f"{runs}.log"
        status, runs = -9, runs + 1
        while status:
            status = life(out, log, killed, draw.uniform(0, 0.03) if killed < kills else None)
            assert status in {0, -signal.SIGKILL}
            killed += status != 0
            lines = out.read_bytes().split(b"\n")[:-1] if out.exists() else []
            ids = [json.loads(line)["id"] for line in lines]
            assert ids == [id_ for id_ in ORDER if id_ in ids]
        assert out.read_bytes() == WHOLE
        noted = log.read_text().split()
        assert len(noted) == len(set(noted))  # none was added again
        assert not list(folder.glob(f"{out.name}?*"))


def test_killed_a_hundred_times(tmp_path: Path) -> None:
    """In a process of its own, as this one has loaded libraries that do not survive a fork."""
    command = [sys.executable, __file__, str(tmp_path), "100"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    torment(Path(sys.argv[1]), int(sys.argv[2]))
