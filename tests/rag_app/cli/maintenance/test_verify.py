"""`rag-app verify`: its exit status is for cron."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner, Result

from indexing.encoder.encoder import Encoder
from indexing.store.store import FILE_NAME
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["verify", "--corpus", str(folder), *words])


def test_verify(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "heron.txt").write_text("The heron waits.")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([tmp_path / "heron.txt"])
        (document,) = corpus.documents()
    corpus_folder = tmp_path / "corpus"
    sound = run(corpus_folder, "--json")
    assert (sound.exit_code, json.loads(sound.stdout)) == (
        0,
        {"sound": True, "documents": 1, "damages": []},
    )
    with closing(sqlite3.connect(corpus_folder / FILE_NAME)) as connection:
        connection.execute("UPDATE documents SET title = 'pelican'")
        connection.commit()
    assert run(corpus_folder, "--quick").exit_code == 0
    damaged = run(corpus_folder)
    assert damaged.exit_code == 1
    assert document.id in damaged.stdout and "rag-app verify --repair" in damaged.stdout
    repaired = run(corpus_folder, "--repair", "--json")
    values = json.loads(repaired.stdout)
    assert (repaired.exit_code, values["sound"], values["repaired"]) == (0, True, [document.id])
    assert run(corpus_folder).stdout == "1 document: sound\n"
    with closing(sqlite3.connect(corpus_folder / FILE_NAME)) as connection:
        connection.execute("DROP INDEX documents_by_digest")
    assert run(corpus_folder, "--quick", "--json").exit_code == 1
    assert run(corpus_folder, "--quick", "--repair").exit_code == 1
