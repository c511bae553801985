"""Writers wait for each other in the order of coming, of one process and of several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from indexing.errors import CorpusLocked
from rag_app.corpus import write_lock
from rag_app.corpus.write_lock import TICKETS, lock
from tests.waiting import wait_until


def tickets(folder: Path) -> int:
    """How many wait."""
    return len([*(folder / TICKETS).glob("*")]) if (folder / TICKETS).is_dir() else 0


def test_the_first_to_come_is_the_first_to_write(tmp_path: Path) -> None:
    order: list[int] = []

    def write(number: int) -> None:
        with lock(tmp_path, wait=60):
            order.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    with lock(tmp_path):
        for number, thread in enumerate(threads):
            thread.start()
            wait_until(lambda: tickets(tmp_path) == number + 1)  # noqa: B023 - at once
        assert not order
    for thread in threads:
        thread.join()
    assert order == [*range(6)] and not tickets(tmp_path)


def test_who_does_not_wait_does_not_overtake(tmp_path: Path) -> None:
    done = threading.Event()

    def write() -> None:
        with lock(tmp_path, wait=60):
            done.wait()

    waiting = threading.Thread(target=write)
    with lock(tmp_path):
        waiting.start()
        wait_until(lambda: tickets(tmp_path) == 1)
        with pytest.raises(CorpusLocked, match="this process, for"), lock(tmp_path):
            pass
    with pytest.raises(CorpusLocked, match="--wait"), lock(tmp_path, wait=0.05):
        pass
    done.set()
    waiting.join()
    with lock(tmp_path):
        assert not tickets(tmp_path)


def _wait_in_a_process(folder: str, comes: Event) -> None:
    comes.set()
    with lock(Path(folder), wait=60):
        pass


def test_the_ticket_of_who_was_killed_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_lock, "PATIENCE", 0.0)
    context = multiprocessing.get_context("spawn")
    told: list[str] = []
    with lock(tmp_path):
        comes = context.Event()
        process = context.Process(target=_wait_in_a_process, args=(str(tmp_path), comes))
        process.start()
        comes.wait()
        wait_until(lambda: tickets(tmp_path) == 1)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert tickets(tmp_path) == 1
        with pytest.raises(CorpusLocked), lock(tmp_path, wait=0.2, notify=told.append):
            pass
        assert told and "process, for" in told[0] and str(tmp_path) in told[0]
    with lock(tmp_path):
        assert not tickets(tmp_path)
