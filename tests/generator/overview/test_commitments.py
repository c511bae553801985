"""Decisions and actions: found where people commit themselves, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.overview.blocks import blocks
from generator.overview.commitments import actions, decisions
from indexing.documents import Document
from indexing.files import document
from indexing.text.transcripts import find_utterances


def said(*lines: str) -> list[str]:
    return [f"{'Ada' if number % 2 == 0 else 'Bo'}: {line}" for number, line in enumerate(lines)]


def talk(line: str) -> str:
    return "\n".join(said("Good morning.", "Good morning to you.", line, "Thank you very much."))


def transcript(text: str) -> Document:
    return replace(document(text, name="talk"), utterances=find_utterances(text))


@pytest.mark.parametrize(
    ("line", "who", "when"),
    [
        ("I'll send you the figures by Friday.", "Ada", "by Friday"),
        ("I will check with the supplier tomorrow morning.", "Ada", "tomorrow morning"),
        (
            "I'm going to write up the minutes before the next meeting.",
            "Ada",
            "before the next meeting",
        ),
        ("Bo will order two more pots.", "Bo", None),
        ("I'll have the drawings done by Monday.", "Ada", "by Monday"),
        ("Action item: the contract on 3 March.", None, "on 3 March"),
    ],
)
def test_actions(line: str, who: str | None, when: str | None) -> None:
    text = talk(line)
    (action,) = actions(blocks(transcript(text)))
    assert (action.sentence.text, action.who, action.when) == (line, who, when)


@pytest.mark.parametrize(
    "line",
    [
        "Will you send the figures by Friday?",
        "If you like, I'll send the figures.",
        "I'll show you the picture.",
        "I would send the figures.",
        "I'll ask you a few more questions.",
        "I'll have a look at it now.",
        "Priya will order two more pots.",  # she does not speak: a word like it may be no name
        "He said I will send the figures.",
        "He said that he sends them on Friday.",
    ],
)
def test_no_actions(line: str) -> None:
    assert actions(blocks(transcript(talk(line)))) == []


@pytest.mark.parametrize(
    "line",
    [
        "We decided to drop the lithium cell.",
        "So we've agreed on the second of June.",
        "It was agreed that the pot stays.",
        "Let's go with the yellow case.",
        "Then it's decided: Brackendale for the probe.",
    ],
)
def test_decisions(line: str) -> None:
    assert [each.text for each in decisions(blocks(transcript(talk(line))))] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "Have we decided to drop it?",
        "If we decided to drop it, we'd save a pound.",
        "We haven't decided on the colour.",
        "Maybe we agreed to that.",
        "Have we agreed on the colour then.",
        "Let's go for lunch.",
        "We'll go with that.",
        "Those are the points we agreed on today.",
    ],
)
def test_no_decisions(line: str) -> None:
    assert decisions(blocks(transcript(talk(line)))) == []
