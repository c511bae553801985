"""`python -m training.cope`: the table says what has not been run."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from training.cope.__main__ import main


def test_the_table_of_an_empty_folder(tmp_path: Path) -> None:
    words = ["--folder", str(tmp_path), "--only-table"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    rows = [line for line in result.stdout.splitlines() if "not run" in line]
    assert len(rows) == 14  # six tasks, three splits of two of them
    assert any("counting-5" in row and "71.5" in row and "7.4" in row for row in rows)
    assert (tmp_path / "table.md").read_text("utf-8") == result.stdout
    unknown = CliRunner().invoke(main, [*words, "--task", "dance"])
    assert unknown.exit_code == 2
    assert "dance" in unknown.output
