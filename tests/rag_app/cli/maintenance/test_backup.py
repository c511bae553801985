"""`rag-app backup`, `restore`, `export` and `import`, from one folder to another."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner, Result

from indexing.encoder.encoder import Encoder
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def test_there_and_back(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "one", encoder=encoder) as corpus:
        corpus.add_text("The stork nests on the mill.", name="stork")
    done = run("backup", tmp_path / "backup.zip", "--corpus", tmp_path / "one", "--json")
    assert json.loads(done.stdout)["documents"] == 1, done.output
    done = run("restore", tmp_path / "backup.zip", "--corpus", tmp_path / "two")
    assert re.match(r"1 document of 20\d\d-\d\d-\d\d \d\d:\d\d UTC is in ", done.stdout), (
        done.output
    )
    done = run("backup", tmp_path / "none" / "b.zip", "--corpus", tmp_path / "one")
    assert done.exit_code == 1 and done.stderr.startswith(
        f"rag-app: {tmp_path / 'none' / 'b.zip'}:"
    )
    done = run("restore", tmp_path / "backup.zip", "--corpus", tmp_path / "two")
    assert done.exit_code == 1 and "--replace" in done.stderr
    done = run("restore", tmp_path / "backup.zip", "--corpus", tmp_path / "two", "--replace")
    assert done.exit_code == 0
    done = run("export", tmp_path / "export.zip", "--corpus", tmp_path / "two", "--json")
    assert json.loads(done.stdout)["documents"] == 1, done.output
    words = ("--corpus", tmp_path / "three", "--max-length", 64, "--dtype", "float32", "--json")
    done = run("import", tmp_path / "export.zip", *words)
    values = json.loads(done.stdout)
    assert (len(values["added"]), values["encoded"]) == (1, 0), done.output
    with Corpus(tmp_path / "three", encoder=encoder) as corpus:
        assert corpus.documents()[0].title == "stork"
