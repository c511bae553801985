"""Encoded documents that evaluations leave in the user's cache."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from rag_app.cli.main import main


def test_clear(tmp_path: Path) -> None:
    """In the cache folder of this test (conftest)."""
    left = tmp_path / "cache" / "evaluation" / "qmsum-0123"
    left.mkdir(parents=True)
    (left / "corpus.sqlite").write_bytes(b"x" * 1000)
    outside = tmp_path / "cache" / "other"
    outside.mkdir()

    def run(*options: str) -> dict[str, list[dict[str, object]]]:
        result = CliRunner().invoke(main, ["evaluate", "clear", "--json", *options])
        assert result.exit_code == 0
        return json.loads(result.stdout)

    there = [{"folder": str(left), "bytes": 1000}]
    assert run("--dry-run") == {"removed": [], "kept": there}
    assert run() == {"removed": there, "kept": []}
    assert not left.exists() and outside.exists()
    assert run() == {"removed": [], "kept": []}
