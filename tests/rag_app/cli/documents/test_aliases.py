"""`rag-app aliases`: listed, added, removed and proposed."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from indexing.encoder.encoder import Encoder
from indexing.files import document
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

TEXTS = {
    "a": "We met Kvamme: the crane at the harbour waits for parts, so Kvamme waits.",
    "b": "I asked Quamme about the crane at the harbour.",
}


def test_aliases(tmp_path: Path, encoder: Encoder) -> None:
    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["aliases", *words, "--corpus", str(tmp_path / "corpus")])

    for words in ((), ("--add", "Foo", "Bar")):
        assert "no corpus here" in run(*words).stderr and not (tmp_path / "corpus").exists()
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_documents(document(text, name=name) for name, text in TEXTS.items())
    assert run().stdout.startswith("No aliases.")
    proposed = json.loads(run("--propose", "--json").stdout)
    assert [(one["spelling"], one["name"]) for one in proposed] == [("Quamme", "Kvamme")]
    assert "Quamme may be Kvamme (sound" in run("--propose").stdout
    added = run("--add", "Kvamme", "Quamme", "--add", "Kvamme", "Kwamme")
    assert (added.exit_code, added.stdout) == (0, "Kvamme: Quamme, Kwamme\n")
    listed = [{"name": "Kvamme", "spellings": ["Quamme"]}]
    assert json.loads(run("--remove", "Kwamme", "--json").stdout) == listed
    assert run("--propose").stdout == "Nothing found.\n"
    assert run("--remove", "Olga").exit_code == 1
