"""Flags over environment over file over defaults; what is wrong in a file is named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from generator.request import EVIDENCE_DOCUMENTS
from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.cli import settings
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

COMMANDS = settings.leaves(main, click.Context(main))


def taken(words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The values that a command is called with."""
    seen: dict[str, Any] = {}
    path = tuple(word for word in words if not word.startswith("-") and ".toml" not in word)
    command = next(COMMANDS[path[:n]] for n in (2, 1) if path[:n] in COMMANDS)
    monkeypatch.setattr(command, "callback", lambda **values: seen.update(values))
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return seen


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_flags_over_environment_over_file_over_defaults(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["ask", "Why?"]
    assert taken(words, monkeypatch)["k"] == EVIDENCE_DOCUMENTS
    (here / "rag-app.toml").write_text("k = 6\n")
    assert taken(words, monkeypatch)["k"] == 6
    (here / "rag-app.toml").write_text("k = 6\n[ask]\nk = 7\n")
    assert taken(words, monkeypatch)["k"] == 7
    assert taken(["search", "Why?"], monkeypatch)["k"] == 6
    monkeypatch.setenv("RAG_APP_K", "8")
    assert taken(words, monkeypatch)["k"] == 8
    assert taken([*words, "-k", "9"], monkeypatch)["k"] == 9


def test_every_kind_of_value(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "own.toml").write_text(
        'corpus = "minutes"\nmax_length = 128\nextension = "gp"\n'
        '[search]\nexplain = true\ndocument = ["a b", "c"]\n'
        '[evaluate.needle]\neach = 2\nextension = ["pcw", "gp"]\n'
    )
    searched = taken(["--config", "own.toml", "search", "x"], monkeypatch)
    assert searched["folder"] == Path("minutes") and searched["explain"] is True
    assert searched["documents"] == ("a b", "c")
    indexed = taken(["--config", "own.toml", "index", "x"], monkeypatch)
    assert (indexed["max_length"], indexed["extension"]) == (128, "gp")
    needle = taken(["--config", "own.toml", "evaluate", "needle"], monkeypatch)
    assert (needle["each"], needle["extensions"]) == (2, ("pcw", "gp"))
    monkeypatch.setenv("RAG_APP_CONFIG", "own.toml")
    assert taken(["list"], monkeypatch)["folder"] == Path("minutes")


def test_one_value_stands_for_a_list_of_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "rag-app.toml").write_text('extension = "gp"\n[ask]\ndocument = "a b"\n')
    assert taken(["index", "x"], monkeypatch)["extension"] == "gp"
    assert taken(["evaluate", "needle"], monkeypatch)["extensions"] == ("gp",)
    assert taken(["ask", "x"], monkeypatch)["documents"] == ("a b",)


def test_a_place_of_ours_is_no_flag(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$RAG_APP_DATA is where verdicts lie; --data is a folder of meetings."""
    monkeypatch.setenv("RAG_APP_DATA", "verdicts")
    (here / "meetings").mkdir()
    (here / "rag-app.toml").write_text('data = "meetings"\n')
    words = ["evaluate", "longembed", "--task", "qmsum"]
    assert str(taken(words, monkeypatch)["data"]) == "meetings"


def test_paths_count_from_the_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "below").mkdir()
    (here / "below" / "own.toml").write_text('corpus = "minutes"\n')
    values = taken(["--config", "below/own.toml", "list"], monkeypatch)
    assert values["folder"] == Path("below/minutes")


def test_a_shared_corpus_is_no_place_for_copies(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`evaluate longembed --corpus` fills a folder of its own."""
    (here / "rag-app.toml").write_text('corpus = "minutes"\n')
    monkeypatch.setenv("RAG_APP_CORPUS", "others")
    words = ["evaluate", "longembed", "--task", "needle"]
    assert taken(words, monkeypatch)["folder"] is None
    assert taken(["list"], monkeypatch)["folder"] == Path("others")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('anser = "free"', "no setting 'anser'; did you mean answer?"),
        ("[aks]\nk = 1", "no setting 'aks'; did you mean ask?"),
        ("[ask]\nspeeker = 1", r"\[ask\] has no setting 'speeker'; did you mean speaker?"),
        ("[list]\nk = 1", r"\[list\] has no setting 'k'"),
        ("[evaluate]\nk = 1", r"\[evaluate\] has no setting 'k'"),
        ("[evaluate.nedle]\nk = 1", "did you mean needle?"),
        ("k = '5'", "k: give a whole number, not '5'"),
        ("k = true", "k: give a whole number, not True"),
        ("k = 0", "k: 0 is not in the range"),
        ("answer = 'fre'", "answer: 'fre' is not one of"),
        ("answer = 5", "answer: give a string"),
        ("json = 1", "json: give true or false"),
        ("[ask]\ndocument = 3", "ask.document: give a string"),
        ("[ask]\nk = [3]", "ask.k: give a whole number"),
        ("config = 'x'", "no setting 'config'"),
        ("k = {a = 1}", "no setting 'k'"),
        ("k = ", "is not TOML"),
        ("k = '\udcff'", "is not TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, said: str, here: Path) -> None:
    (here / "rag-app.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidRequest, match=said):
        settings.default_map(here / "rag-app.toml", COMMANDS)
    done = CliRunner().invoke(main, ["list"])
    assert done.exit_code == 1 and "rag-app.toml" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        'generator = "openai:http://elsewhere/v1#m"',
        '[batch]\ngenerator = " OpenAI:http://elsewhere/v1#m"',
        '[serve]\nhost = "0.0.0.0"',
        'corpus = "ray://elsewhere:1/minutes"',
        '[index]\nray = "elsewhere:1"',
    ],
)
def test_a_file_that_nobody_named_leads_nowhere(
    text: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "rag-app.toml").write_text(text)
    done = CliRunner().invoke(main, ["list"])
    assert done.exit_code == 1 and "use --config rag-app.toml" in done.stderr
    if "ray" in text:
        named = settings.default_map(here / "rag-app.toml", COMMANDS, named=True)
        found = named["list"]["folder"] if "corpus" in text else named["index"]["ray"]
        assert found in text
        return
    words = ["--config", "rag-app.toml", "serve" if "serve" in text else "batch", "q", "--out", "a"]
    (here / "q").touch()
    assert taken(words[:3] if "serve" in text else words, monkeypatch)


def test_a_file_that_is_named_must_be_there(here: Path) -> None:
    done = CliRunner().invoke(main, ["--config", "no.toml", "list"])
    assert done.exit_code == 1 and "no such file" in done.stderr


def test_every_flag_can_be_set(here: Path) -> None:
    """By the file, under its own name, for its own command: through the table of commands."""
    examples: dict[type, str] = {bool: "true", int: "9", float: "0.5", str: '"x"'}
    for words, command in COMMANDS.items():
        for option in command.params:
            if not isinstance(option, click.Option) or settings.flag(option) == "help":
                continue
            _, kinds = settings._kind(option)
            value = examples[kinds[-1]]  # of (int, float) the latter: a probability is below 1
            if isinstance(option.type, click.IntRange):
                value = str(max(9, int(option.type.min or 0)))
            if isinstance(option.type, click.Choice):
                value = json.dumps(next(iter(option.type.choices)))
            value = f"[{value}]" if option.multiple else value
            text = f"[{'.'.join(words)}]\n{settings.flag(option)} = {value}\n"
            (here / "rag-app.toml").write_text(text)
            place = settings.default_map(here / "rag-app.toml", COMMANDS)
            for word in words:
                place = place[word]
            assert list(place) == [option.name]


def test_info_tells_where_each_value_comes_from(
    here: Path, monkeypatch: pytest.MonkeyPatch, encoder: Encoder
) -> None:
    corpus = Corpus(here / "minutes", encoder=encoder)
    corpus.add_documents([document("Probe 3 fell.", name="probe")])
    corpus.close()
    (here / "rag-app.toml").write_text('corpus = "minutes"\n[ask]\nk = 7\n')
    monkeypatch.setenv("RAG_APP_ANSWER", "free")
    done = CliRunner().invoke(main, ["info", "--json"])
    assert done.exit_code == 0, done.output
    found = {(one["name"], one["value"]): one for one in json.loads(done.stdout)["settings"]}
    assert found["corpus", "minutes"]["source"] == "rag-app.toml"
    assert found["k", "7"]["commands"] == ["ask"] and found["k", "7"]["source"] == "rag-app.toml"
    assert found["k", "5"]["source"] == "default" and "search" in found["k", "5"]["commands"]
    assert found["mode", "free"]["source"] == "$RAG_APP_ANSWER"
    said = CliRunner().invoke(main, ["info"]).stdout
    lines = said.partition("\n\n")[0].splitlines()
    assert len({re.match(r"-\S+ +", line).end() for line in lines}) == 1  # type: ignore[union-attr]
    assert any(line.startswith("-k ") for line in lines)
    assert "--name" not in said and "--person" not in said
    assert "--mode" in said and "$RAG_APP_ANSWER" in said
    assert "answers     quote (measured: " in said
