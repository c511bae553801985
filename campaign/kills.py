"""`rag-app index` killed at any moment: nothing is lost, and the next run goes on."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from campaign.desk import Desk
from campaign.result import Progress, Result

ROUNDS = 5  # kills of one corpus before a run to the end


def attack(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """Kill so many runs, however many end before."""
    result, desk = Result("kills while indexing", trials, progress), Desk(folder)
    draw, rounds, kills, longest = random.Random(seed), 0, 0, desk.seconds
    corpus = desk.copy(folder / "killed")
    while kills < trials:
        rounds += 1
        killed = desk.kill(desk.index(corpus), draw.uniform(0, longest))
        kills += killed
        longest *= 1.02 if killed else 0.9  # a run takes as long as others let it
        complaint = desk.complaint(corpus)
        if complaint is None and rounds % ROUNDS == 0:
            complaint = desk.end(corpus)
        if complaint is None:
            result.note("killed, nothing lost" if killed else "ended before its kill")
        else:
            result.fail(f"kills, seed {seed}, trial {result.trials}: {complaint}")
        if complaint is not None or rounds % ROUNDS == 0:
            shutil.rmtree(corpus)
            desk.copy(corpus)
    return result
