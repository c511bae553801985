"""`rag-app cluster`: shards made, listed and dissolved."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from indexing.encoder.encoder import Encoder
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["cluster", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_shards_are_made_listed_and_dissolved(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for name in "abcde":
            corpus.add_text(f"This is text {name}.", name=name)
    where = ("--corpus", str(tmp_path / "corpus"))
    assert "in one piece" in run(*where)
    made = json.loads(run("init", "--shards", "3", "--json", *where))
    assert made["generation"] == 1 and len(made["shards"]) == 3
    assert sum(one["documents"] for one in made["shards"]) == 5
    assert json.loads(run("--json", *where)) == made
    assert "shard 2: " in run(*where)
    assert run("dissolve", *where) == "searched in one piece\n"
    assert json.loads(run("--json", *where)) == {"shards": []}
    result = CliRunner().invoke(main, ["cluster", "--corpus", str(tmp_path / "none")])
    assert result.exit_code == 1 and "no corpus here" in result.stderr
