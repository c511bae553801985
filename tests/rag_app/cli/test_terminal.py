"""What documents hold is shown by a terminal, never obeyed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.answer import marker_spans
from indexing.encoder.encoder import Encoder
from rag_app.cli import terminal
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

CONTROLS = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\x90q\x9c",
    "\u202e",
    "\u2066",
    "\u200f",
    "\x08",
    "\x7f",
]
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORGED = "[2] 00:00:01, Chair, minutes, characters 0-10"
MEETING = {
    "id": f"minutes\n{FORGED}",
    "meeting_transcripts": [
        {"speaker": f"Ana\n{FORGED}\n    /real.vtt", "content": "The ferry sails at noon [2]. [1]"},
        {"speaker": "Bob", "content": "The ferry " + " ".join(CONTROLS) + " sails [unsupported]."},
    ],
}
QUESTION = "When does the ferry sail?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    home = tmp_path_factory.mktemp("hostile")
    file = home / "fe\x1b[2Krry.json"
    file.write_text(json.dumps(MEETING))
    with Corpus(home / "corpus", encoder=encoder) as corpus:
        report = corpus.add([file])
        assert len(report.added) == 1
    return home / "corpus"


def run(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, "--corpus", str(folder)])
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("control", CONTROLS)
def test_controls_are_escaped_so_that_they_can_be_read(control: str) -> None:
    shown = terminal.escape(f"a{control}b\n\tc")
    assert shown.endswith("b\n\tc") and not UNSAFE.search(shown)
    assert shown.startswith(f"a{ascii(control[0])[1:-1]}")


def test_text_of_all_languages_stays_as_it_is() -> None:
    text = "naïve, שלום, 你好, 👩\u200d👩\u200d👧, वि\u200cज्ञान\n\tx"
    assert terminal.escape(text) == text


def commands(folder: Path) -> list[tuple[str, ...]]:
    with Corpus(folder) as corpus:
        (entry,) = corpus.documents()
    return [
        ("list",),
        ("show", entry.id),
        ("info",),
        ("overview", entry.id),
        ("search", QUESTION, "--explain"),
        ("ask", QUESTION, "--mode", "quote", "--explain", "--check-position"),
        ("ask", QUESTION, "--mode", "quote", "--json"),
        ("show", entry.id, "--json"),
        ("list", "--json"),
    ]


def test_no_command_prints_a_control_and_none_a_line_of_a_document_s_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "say_text", terminal.say)  # as on a terminal
    for words in commands(folder):
        shown = run(folder, *words)
        assert not UNSAFE.search(shown), words
        assert not [line for line in shown.split("\n") if line.startswith(FORGED)], words


def test_json_reads_back_as_it_was(folder: Path) -> None:
    with Corpus(folder) as corpus:
        (entry,) = corpus.documents()
        text = corpus.document(entry.id).text
    assert "\u202e" in text
    assert json.loads(run(folder, "show", entry.id, "--json"))["text"] == text
    part = ("show", entry.id, "--start", "5", "--end", "40")
    assert json.loads(run(folder, *part, "--json"))["text"] == run(folder, *part) == text[5:40]
    for wrong in (("--start", "9", "--end", "8"), ("--start", "9999999")):
        words = ["show", entry.id, *wrong, "--corpus", str(folder)]
        assert CliRunner().invoke(main, words).exit_code == 1


def test_a_text_that_goes_to_a_file_is_exact(folder: Path) -> None:
    with Corpus(folder) as corpus:
        (entry,) = corpus.documents()
        text = corpus.document(entry.id).text
    shown = CliRunner().invoke(main, ["show", entry.id, "--corpus", str(folder)])
    assert shown.stdout_bytes.decode() == text


def test_a_text_on_a_terminal_is_escaped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    terminal.say_text("a\x1b[2Kb")
    assert capsys.readouterr().out == "a\\x1b[2Kb\n"


def test_a_marker_can_be_told_from_what_a_document_says(folder: Path) -> None:
    answer = json.loads(run(folder, "ask", QUESTION, "--mode", "quote", "--json"))
    shown = run(folder, "ask", QUESTION, "--mode", "quote").partition("\n\n")[0]
    markers = [each["marker"] for each in answer["citations"]]
    assert "noon [2]. [1]" in answer["answer"]
    assert [int(number) for number in re.findall(r"(?<!\\)\[(\d+)\]", shown)] == markers
    assert r"noon \[2]. \[1]" in shown
    assert [each["marker"] for each in answer["markers"]] == markers
    for each in answer["markers"]:
        assert answer["answer"][each["start"] : each["end"]] == f"[{each['marker']}]"


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("Ana: at noon [2]. [1]", r"Ana: at noon \[2]. [1]"),
        ("\nBob: [unsupported] [3] [2]", "\n" + r"Bob: \[unsupported] \[3] [2]"),
        ("It sails [1] [unsupported]", "It sails [1] [unsupported]"),
        ("half a sentence", "half a sentence"),
    ],
)
def test_a_piece_ends_with_its_own_marks(piece: str, shown: str) -> None:
    assert terminal.answer_piece(piece) == shown


def test_of_a_generated_answer_every_marker_is_its_own() -> None:
    text = "It sails [1] [unsupported]\nat noon [2]."
    assert terminal.answer_text(text, "free") == text
    assert [each.marker for each in marker_spans(text, "free")] == [1, 2]
