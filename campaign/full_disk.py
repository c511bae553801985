"""A disk that is full in the middle of `rag-app index`: an error, and afterwards all is there."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from campaign.desk import Desk
from campaign.result import Progress, Result


def attack(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """So many runs in which no file may grow beyond a size, which a full disk looks like."""
    result, desk = Result("full disks", trials, progress), Desk(folder)
    draw = random.Random(seed)
    largest = max(file.stat().st_size for file in desk.undisturbed.rglob("*") if file.is_file())
    for trial in range(trials):
        corpus = desk.copy(folder / "full")
        status = desk.wait(desk.index(corpus, file_size=draw.randrange(1024, largest)))
        complaint = desk.complaint(corpus) or desk.end(corpus)
        if status not in {0, 1, 3}:
            complaint = f"ended with {status} instead of an error"
        if complaint is None:
            result.note("refused, nothing lost" if status else "had room enough")
        else:
            result.fail(f"full disk, seed {seed}, trial {trial}: {complaint}")
        shutil.rmtree(corpus)
    return result
