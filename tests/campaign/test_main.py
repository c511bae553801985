"""`python -m campaign`: a table, and an exit status that a broken promise sets."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from campaign.__main__ import ATTACKS, HEADER, main
from campaign.result import Result


def test_the_table_and_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def attack(_: Path, *, trials: int, seed: int) -> Result:
        result = Result("short attack")
        for _trial in range(trials):
            result.note("as promised")
        if seed:
            result.fail(f"broken, seed {seed}")
        return result

    monkeypatch.setitem(ATTACKS, "kills", (attack, 1000))
    done = CliRunner().invoke(main, ["kills", "--share", "0.5"])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{HEADER}\n| short attack | 500 | 0 | as promised: 500 |\n"
    broken = CliRunner().invoke(main, ["kills", "--seed", "7"])
    assert broken.exit_code == 1 and "broken, seed 7" in broken.stderr
