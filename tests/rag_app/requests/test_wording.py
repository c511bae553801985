"""The wording of answers: every message has its German, with the same values in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rag_app.requests
from indexing.text.language import ENGLISH
from rag_app.requests.wording import GERMAN, WORDINGS

FOLDER = Path(rag_app.requests.__file__).parent
VALUE = re.compile(r"\{(\w+)\}")


def test_every_message_is_used_and_keeps_its_values() -> None:
    code = "".join(
        re.sub(r"[\"']\s+f?[\"']", "", file.read_text(encoding="utf-8"))
        for file in FOLDER.glob("*.py")
        if file.name != "wording.py"
    )
    for english, german in WORDINGS[GERMAN].messages.items():
        assert f'"{english}"' in code
        assert set(VALUE.findall(german)) <= set(VALUE.findall(english)), english


def test_every_message_that_is_said_has_its_german() -> None:
    for file in FOLDER.glob("*.py"):
        text = re.sub(r'"\s+"', "", file.read_text(encoding="utf-8"))
        for message in re.findall(r'\.say\(\s*"([^"]+)"', text):
            assert message in WORDINGS[GERMAN].messages, (file.name, message)


@pytest.mark.parametrize(
    ("language", "number", "noun", "said"),
    [
        (ENGLISH, 1, "document", "1 document"),
        (ENGLISH, 1234, "word", "1,234 words"),
        (ENGLISH, 2, "transcript among", "2 transcripts"),
        (GERMAN, 1, "document", "1 Dokument"),
        (GERMAN, 1234, "word", "1.234 Wörter"),
        (GERMAN, 2, "document among", "2 Dokumenten"),
    ],
)
def test_what_is_counted(language: str, number: int, noun: str, said: str) -> None:
    assert WORDINGS[language].count(number, noun) == said
