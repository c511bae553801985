"""`rag-app collections`, and `--collection` of the commands that take it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of mast.txt in "minutes" and "ana", and soup.txt in "ana", which is hers."""
    (tmp_path / "mast.txt").write_text("The mast fell on Monday.")
    (tmp_path / "soup.txt").write_text("Soup is served at noon.")
    assert run(tmp_path, "collections", "create", "ana", "--owner", "ana").exit_code == 0
    for name, files in {"minutes": ["mast.txt"], "ana": ["mast.txt", "soup.txt"]}.items():
        paths = [str(tmp_path / file) for file in files]
        assert run(tmp_path, "index", *paths, "--collection", name).exit_code == 0
    return tmp_path


def run(folder: Path, *words: str, text: str | None = None) -> Result:
    corpus = ["--corpus", str(folder / "corpus")]
    return CliRunner().invoke(main, [*words, *corpus], input=text)


def values(folder: Path, *words: str) -> Any:
    done = run(folder, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def titles(folder: Path, *words: str) -> list[str]:
    return [one["title"] for one in values(folder, *words)]


def test_each_command_keeps_to_the_collections_named(folder: Path) -> None:
    assert titles(folder, "list") == ["mast", "soup"]
    assert titles(folder, "list", "--collection", "minutes") == ["mast"]
    assert titles(folder, "search", "soup", "--collection", "minutes") == ["mast"]
    both = ["--collection", "minutes", "--collection", "ana"]
    assert titles(folder, "search", "soup", *both) == ["soup", "mast"]
    answer = values(folder, "ask", "When is soup served?", "--collection", "ana")
    assert answer["citations"][0]["title"] == "soup"
    answer = values(folder, "ask", "When is soup served?", "--collection", "minutes")
    assert answer["abstained"] and {one["title"] for one in answer["closest"]} <= {"mast"}
    done = run(folder, "search", "soup", "--collection", "nowhere")
    assert done.exit_code == 1
    assert done.stderr == (
        "rag-app: nowhere: no such collection; there are: default, ana, minutes\n"
    )


def test_a_batch_of_a_collection(folder: Path) -> None:
    (folder / "q.txt").write_text("When is soup served?\nWhen did the mast fall?\n")
    out = folder / "answers.jsonl"
    words = ["batch", str(folder / "q.txt"), "--out", str(out), "--collection", "minutes"]
    assert values(folder, *words)["asked"] == 2
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["abstained"] and second["citations"][0]["title"] == "mast"
    Corpus(folder / "corpus").collections.add("minutes", ["soup"])
    words += ["--on-change", "ask"]
    assert values(folder, *words)["asked"] == 2, "the documents of the collection have changed"
    first, _ = map(json.loads, out.read_text().splitlines())
    assert first["citations"][0]["title"] == "soup"


def test_the_list_and_its_changes(folder: Path) -> None:
    def listed() -> list[tuple[str, str | None, bool, int]]:
        every = values(folder, "collections")
        return [(one["name"], one["owner"], one["shared"], one["documents"]) for one in every]

    before = [("default", None, False, 0), ("ana", "ana", False, 2), ("minutes", None, False, 1)]
    assert listed() == before
    lines = run(folder, "collections").stdout.splitlines()
    assert lines[1:] == ["ana  (of ana)  2 documents", "minutes  (everybody's)  1 document"]
    for words in (
        ["share", "ana"],
        ["rename", "ana", "Ana's"],
        ["give", "Ana's", "eve"],
        ["add", "minutes", "soup", "mast"],
    ):
        assert run(folder, "collections", *words).exit_code == 0
    assert listed() == [before[0], ("Ana's", "eve", True, 2), ("minutes", None, False, 2)]
    assert run(folder, "collections", "unshare", "Ana's").stdout == "Ana's: only eve may read it\n"
    assert run(folder, "remove", "soup", "--collection", "minutes").exit_code == 0
    assert titles(folder, "list", "--collection", "minutes") == ["mast"]
    assert titles(folder, "list", "--collection", "Ana's") == ["mast", "soup"]


def test_what_is_encoded_already_is_said(folder: Path) -> None:
    done = run(folder, "index", str(folder / "soup.txt"), "--collection", "minutes")
    assert done.stdout.splitlines() == [
        "1 added (0 tokens encoded)",
        "1 document held by other collections already",
    ]


def test_a_deletion_says_whom_it_concerns_and_asks(folder: Path) -> None:
    words = ["collections", "delete", "ana"]
    for text in ("", "n\n"):
        done = run(folder, *words, text=text)
        assert done.exit_code == 1 and "--yes" in done.stderr
        assert "ana (ana): 1 document in no other collection will be removed" in done.stderr
        assert "  mast: in minutes\n" in done.stderr
        assert titles(folder, "list") == ["mast", "soup"]
    assert run(folder, *words, text="y\n").exit_code == 0
    assert titles(folder, "list") == ["mast"]
    assert values(folder, "collections", "delete", "minutes", "--yes") == {"removed": 1}
    assert titles(folder, "list") == []


def test_the_removal_of_what_several_hold_asks(folder: Path) -> None:
    done = run(folder, "remove", "mast", text="n\n")
    assert done.exit_code == 1 and "  mast: in ana (ana), minutes\n" in done.stderr
    assert titles(folder, "list") == ["mast", "soup"]
    assert run(folder, "remove", "soup").stdout == "1 document removed\n", "which only one holds"
    assert run(folder, "remove", "mast", text="y\n").exit_code == 0
    assert titles(folder, "list") == []


def test_missing_files_leave_their_collection(folder: Path) -> None:
    (folder / "other.txt").write_text("The mast fell on Monday.")
    run(folder, "index", str(folder / "other.txt"), "--collection", "eve")
    (folder / "mast.txt").unlink()
    assert values(folder, "remove", "--missing") == {"removed": 0}, "eve's file is there"
    assert values(folder, "remove", "--missing", "--collection", "minutes") == {"removed": 1}
    assert titles(folder, "list", "--collection", "minutes") == []
    assert titles(folder, "list", "--collection", "eve") == ["other"]
