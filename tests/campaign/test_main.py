"""`python -m campaign`: a table, and an exit status that a broken promise sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from campaign.__main__ import ATTACKS, HEADER, main
from campaign.result import Progress, Result

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_trial_of_each_attack() -> None:
    """In a process of its own, as this one has loaded libraries that do not survive a fork."""
    command = [sys.executable, "-m", "campaign", "--share", "0.001"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()[2:]
    assert len(rows) == len(ATTACKS)
    assert all("| 0 |" in row for row in rows)


def test_the_table_and_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    def attack(_: Path, *, trials: int, seed: int, progress: Progress) -> Result:
        def both(done: int, planned: int) -> None:
            progress(done, planned)
            told.append((done, planned))

        result = Result("short attack", trials, both)
        for _trial in range(trials):
            result.note("as promised")
        if seed:
            result.fail(f"broken, seed {seed}")
        return result

    monkeypatch.setitem(ATTACKS, "kills", (attack, 1000))
    done = CliRunner().invoke(main, ["kills", "--share", "0.5"])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{HEADER}\n| short attack | 500 | 0 | as promised: 500 |\n"
    assert (told[0], told[-1]) == ((1, 500), (500, 500))
    broken = CliRunner().invoke(main, ["kills", "--seed", "7"])
    assert broken.exit_code == 1 and "broken, seed 7" in broken.stderr
