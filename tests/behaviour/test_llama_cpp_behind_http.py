"""llama.cpp's server, asked as any OpenAI-compatible one: its good days and its last."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.lm.server.openai_server import RemoteModel
from indexing.errors import ServerFailed
from tests.generator.llama_server import WINDOW

KEY = "secret"
LONG = "Count slowly from one to a thousand, and say each number twice."


@contextmanager
def running() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server and the name of its model."""
    program = Path(__file__).parents[1] / "llama_server.py"
    command = [sys.executable, "-m", "tests.generator.llama_server", KEY]
    root = program.parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        yield process, f"openai:http://127.0.0.1:{process.stdout.readline().strip()}/v1#any"
        process.kill()


@pytest.fixture(scope="module")
def name() -> Iterator[str]:
    with running() as (_, name):
        yield name


def test_text_is_streamed(name: str) -> None:
    model = RemoteModel(name, key=KEY)
    pieces = list(model.stream("Name the capital of France.", max_new_tokens=20))
    assert "Paris" in "".join(pieces) and len(pieces) > 2
    (listed,) = model.names()
    assert RemoteModel(name.replace("#any", f"#{listed}"), key=KEY).window == WINDOW


def test_it_stops_while_it_reads_and_while_it_writes(name: str) -> None:
    model, stop = RemoteModel(name, key=KEY), threading.Event()
    threading.Timer(0.2, stop.set).start()
    reading = "Another word about another matter. " * 120
    assert list(model.stream(reading, max_new_tokens=1, stop=stop)) == []
    stop.clear()
    for _ in model.stream(LONG, max_new_tokens=900, stop=stop):
        stop.set()
    assert "".join(model.stream("Name the capital of France.", max_new_tokens=5))


def test_a_wrong_key(name: str) -> None:
    with pytest.raises(ServerFailed, match="refuses the key"):
        list(RemoteModel(name, key="wrong").stream("Hello", max_new_tokens=5))


def test_more_than_it_reads(name: str) -> None:
    long = "Another word about another matter. " * 400
    with pytest.raises(ServerFailed, match=r"reads no more.*--prompt-tokens"):
        list(RemoteModel(name, key=KEY).stream(long, max_new_tokens=5))


def test_it_dies_while_it_writes() -> None:
    pieces = []
    with running() as (process, name):
        with pytest.raises(ServerFailed, match=r"look at the server|cannot be reached|broke off"):
            for piece in RemoteModel(name, key=KEY).stream(LONG, max_new_tokens=900):
                pieces.append(piece)
                process.kill()
        assert pieces
        with pytest.raises(ServerFailed, match="cannot be reached"):
            list(RemoteModel(name, key=KEY).stream("Hello", max_new_tokens=5))
