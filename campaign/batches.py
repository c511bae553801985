"""`rag-app batch` killed at any moment: it ends as one that was not."""

from __future__ import annotations

from pathlib import Path

from benchmarks import batch_kills
from campaign.desk import Desk
from campaign.result import Progress, Result
from rag_app.batch.questions import Question

QUESTIONS = 12


def attack(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """Kill so many runs of a batch; a run that breaks a promise ends the attack."""
    result, desk = Result("kills of batches", trials, progress), Desk(folder)
    questions = [
        Question(f"q{number}", f"Which probe fell into lake {number}?")
        for number in range(QUESTIONS)
    ]
    batch = batch_kills.Batch(desk.undisturbed, desk.encoder, questions, workers=1)
    try:
        report = batch_kills.run_campaign(batch, folder, trials, seed)
    except (AssertionError, ValueError) as error:
        result.fail(f"batches, seed {seed}: {error}")
    else:
        for _ in range(report["kills"]):
            result.note("killed, ends as one that was not")
    return result
