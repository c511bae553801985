"""A server's queue of uploads killed at any moment: what it had accepted is indexed in the end."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

from campaign.desk import Content, Desk, content
from campaign.result import Progress, Result
from indexing.errors import RagAppError

ROUNDS = 4  # kills of one queue before it is let to its end
FILES = 5  # that come in between two kills


def attack(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """Kill so many runs, each while files come in and are indexed."""
    result, desk = Result("kills with uploads waiting", trials, progress), Desk(folder)
    draw = random.Random(seed)
    names = [f"upload-{number:02}.txt" for number in range(ROUNDS * FILES)]
    truth, seconds = _truth(desk, folder / "whole", names)
    while result.trials < trials:
        corpus, accepted = desk.copy(folder / "killed"), folder / "accepted"
        accepted.write_text("")
        complaint, killed = None, 0
        for start in range(0, len(names), FILES):
            process = serve(corpus, names[start : start + FILES], accepted)
            killed += desk.kill(process, draw.uniform(0, seconds / ROUNDS))
            complaint = complaint or wrong(corpus, truth)
        status = desk.wait(serve(corpus, [], accepted))
        complaint = complaint or lost(corpus, accepted.read_text().split(), truth, status)
        if complaint is not None:
            result.fail(f"uploads, seed {seed}, trial {result.trials}: {complaint}")
        for number in range(ROUNDS - (complaint is not None)):
            result.note("killed, nothing lost" if number < killed else "ended before its kill")
        shutil.rmtree(corpus)
    return result


def serve(corpus: Path, names: list[str], accepted: Path) -> int:
    """The id of a process that goes on with a queue, adds files to it, and ends when all are read.

    Args:
        corpus: The folder of the corpus.
        names: Of the files to add.
        accepted: File to which a name is added as soon as the file is accepted.
    """
    process = os.fork()
    if process:
        return process
    status = 99
    try:
        _run(corpus, names, accepted)
        status = 0
    finally:
        os._exit(status)


def _run(corpus: Path, names: list[str], accepted: Path) -> None:
    from rag_app.chat.application import Application
    from rag_app.corpus.corpus import Corpus

    app = Application(Corpus(corpus))
    app.ingest_queue.resume()
    for name in names:
        app.ingest_queue.add(asyncio.run(app.uploads.receive(name, _content(name))))
        with accepted.open("a") as file:
            file.write(f"{name}\n")
    while app.ingest_queue.is_busy():
        time.sleep(0.005)


async def _content(name: str) -> AsyncIterator[bytes]:
    yield f"Ana: {name} came by mail.\n".encode()
    yield b"Bob: Then somebody has to read it.\n"


def _truth(desk: Desk, corpus: Path, names: list[str]) -> tuple[Content, float]:
    """What an undisturbed run makes of all files, and how long it takes."""
    shutil.copytree(desk.start, corpus)
    began = time.monotonic()
    assert desk.wait(serve(corpus, names, corpus / "accepted")) == 0
    return content(corpus), time.monotonic() - began


def wrong(corpus: Path, truth: Content) -> str | None:
    """What is wrong with the documents that are there."""
    try:
        now = content(corpus)
    except RagAppError as error:
        return f"cannot be opened: {error}"
    changed = [name for name, each in now.items() if each != truth.get(name)]
    return f"wrong {sorted(changed)}" if changed else None


def lost(corpus: Path, accepted: list[str], truth: Content, status: int) -> str | None:
    """What is wrong after a run that nothing disturbs."""
    if status != 0:
        return f"the run after it ended with {status}"
    now = content(corpus)
    before = (name for name in truth if not name.startswith("upload"))
    missing = {*accepted, *before} - now.keys()
    return f"lost {sorted(missing)}" if missing else wrong(corpus, truth)
