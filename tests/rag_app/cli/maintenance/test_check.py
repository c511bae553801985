"""`rag-app ask --proof` and `rag-app check`: their exit status is for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexing.encoder.encoder import Encoder
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.proof.proof import SCRIPT


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


def test_ask_and_check(tmp_path: Path, encoder: Encoder) -> None:
    original = tmp_path / "heron.txt"
    original.write_text("The heron waits in the reeds.\nThe pelican eats nine fish a day.\n")
    corpus = ("--corpus", tmp_path / "corpus")
    with Corpus(tmp_path / "corpus", encoder=encoder) as made:
        made.add([original])
    refused = run("ask", "How many fish?", "--proof", tmp_path / "a.txt", *corpus)
    assert refused.exit_code == 1 and ".html or .json" in refused.stderr
    proof = tmp_path / "a.html"
    asked = run("ask", "How many fish does the pelican eat?", "--proof", proof, *corpus)
    assert asked.exit_code == 0 and "nine fish" in asked.stdout
    for place in ([original], [tmp_path / "heron.txt"], corpus):
        checked = run("check", proof, *place)
        assert (checked.exit_code, checked.stdout) == (
            0,
            "as it was written; 1 of 1 quotes stand\n",
        )
    values = json.loads(run("check", proof, "--json", *corpus).stdout)
    assert values == {"holds": True, "faults": [], "quotes": 1, "placed": 1, "unquoted": 0}
    original.write_text("The pelican eats ten fish a day.\n")
    changed = run("check", proof, original)
    assert changed.exit_code == 1
    assert changed.stdout.startswith("wrong: none of the originals has the text of 'heron'\n")
    proof.write_bytes(proof.read_bytes().replace(b"nine", b"many"))
    assert run("check", proof, *corpus, "--json").exit_code == 1
    missing = run("check", tmp_path / "none.html", *corpus)
    assert missing.exit_code == 1 and "none.html" in missing.stderr


def test_a_proof_that_cannot_be_written(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("ask", "How many fish does the pelican eat?", "--corpus", tmp_path / "corpus")
    with Corpus(tmp_path / "corpus", encoder=encoder) as made:
        made.add_text("The pelican eats nine fish a day.", name="pelican")
    refused = run(*words, "--proof", tmp_path / "none" / "a.html")
    assert refused.exit_code == 1 and refused.stdout == ""
    assert "none" in refused.stderr
    monkeypatch.setattr("rag_app.proof.proof.refuse_foreign", lambda *_, **__: None)
    late = run(*words, "--proof", tmp_path / "none" / "a.html")  # as if it were removed meanwhile
    assert late.exit_code == 1 and "nine fish" in late.stdout
    assert "cannot be written" in late.stderr


def test_the_script_is_printed() -> None:
    assert run("check", "--script").stdout == SCRIPT.read_text("utf-8")
