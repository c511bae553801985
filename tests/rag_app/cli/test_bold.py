"""The words in bold are the short answer's, whatever a line break or an escape does to them."""

from __future__ import annotations

import os
import pty
import random
import re
import subprocess
import sys

import pytest

from generator.answer import CONVERSATION, Answer, Citation, ContextEntry, ShortAnswer
from rag_app.cli import printing
from rag_app.cli.bold import filled, in_bold
from rag_app.short_answer import Emphasis, emphasis

BOLD = re.compile(r"\x1b\[1m(.*?)\x1b\[0m")


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def clean(text: str) -> str:
    return re.sub("[\x1b\x07]", lambda one: f"\\x{ord(one[0]):02x}", text)


def bold(text: str) -> str:
    return "".join("".join(BOLD.findall(text)).split())


def test_a_filled_quote_keeps_its_words_bold_over_line_breaks() -> None:
    """Oracle: the visible characters in bold are those of the span, cleaned; the rest is as was."""
    chance = random.Random(3)
    pieces = ["word", "a-b", "é", " ", "  \n", "\t", "\u00a0", "\x1b[2m", "[1]", "x" * 30]
    for _ in range(150):
        quote = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        start, end = sorted(chance.choices(range(len(quote) + 1), k=2))
        cut = emphasis(quote, start, end)
        text = filled(cut, clean, indent=4, width=24, end=" [7]")
        assert bold(text) == "".join(clean(cut.words).split())
        plain = re.sub(r"\x1b\[[01]m", "", text)
        assert "".join(plain.split()) == "".join(clean(f"{quote} [7]").split())
        assert all(len(line) <= 24 and line.startswith("    ") for line in plain.split("\n"))


def test_bold_is_left_out_where_cleaning_looks_past_the_words() -> None:
    def unmarked(text: str) -> str:
        return text.replace("[1]", r"\[1]")

    assert in_bold(Emphasis("a ", "[1]"), unmarked) == "a \x1b[1m\\[1]\x1b[0m"
    assert in_bold(Emphasis("a [", "1]", " b"), unmarked) == r"a \[1] b"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_without_colours_gets_plain_text(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert in_bold(Emphasis("a ", "b"), clean) == "a b"
    assert filled(Emphasis("a ", "b"), clean) == "a b"


QUOTE = "It starts at\nnine  o'clock."
CITATION = Citation(1, "d", "/d.txt", "D", "", 0, len(QUOTE), QUOTE, "Ann", 61.0, verified=True)
ANSWER = Answer(
    "When?",
    "Ann: It starts at nine o'clock. [1]",
    citations=(CITATION,),
    short=ShortAnswer.within(CITATION, 13, 26, 0.9),
)
SHOWN = """\
import os
os.environ.update(TERM="xterm")
from rag_app.cli import printing
from tests.rag_app.cli.test_bold import ANSWER
printing.quotes(ANSWER)
printing.sources(ANSWER)
"""


def test_an_answer_is_bold_on_a_terminal_and_nowhere_else() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", SHOWN]
    subprocess.run(command, stdout=theirs, env={**os.environ, "COLUMNS": "30"}, check=True)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(theirs)
    assert BOLD.findall(shown) == ["nine", "o'clock", "nine o'clock"]
    assert shown.startswith("Ann: It starts at \x1b[1mnine\x1b[0m\r\n")  # of 30 columns
    piped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "\x1b" not in piped and piped.count("nine o'clock") == 2
    assert piped.startswith(f"{ANSWER.text}\n")


def test_closest_passages_are_told_from_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    printing.sources(Answer("Who?", "…", closest=(CITATION,), abstained=True))
    said = capsys.readouterr().out
    assert "Closest passages (related, but not an answer):\n  - 00:01:01, Ann, D, " in said
    assert '    "It starts at nine o\'clock."\n    /d.txt\n' in said
    assert "[1]" not in said and "may not support" not in said


def test_documents_of_which_nothing_was_read_are_named_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = [("a", "A", 7, 3), ("b", "B", 5, 0), ("", CONVERSATION, 9, 0), ("c", "C", 1, 0)]
    context = tuple(ContextEntry(*one, one[2] - one[3]) for one in parts)
    printing.sources(
        Answer("Who?", "\u2026", context=(*context, ContextEntry("", "lost", 0, 0, 0)))
    )
    assert capsys.readouterr().out.split("\n")[2:-2] == [
        "",
        "read 3 of 7 tokens of A",
        f"read 0 of 9 tokens of {CONVERSATION}",
        "lost",
        "found, but nothing of it read: B; C",
    ]
