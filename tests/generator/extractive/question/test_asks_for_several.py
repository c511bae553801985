"""Which questions ask for several things."""

from __future__ import annotations

import pytest

from generator.extractive.question.asks_for_several import asks_for_several


@pytest.mark.parametrize(
    "question",
    [
        "Which drugs are kept in the cabinet?",
        "which three wishes did the band send",
        "From which places can he take off?",
        "What conditions has the owner set?",
        "What are you not allowed to do?",
        "What should be in the first-aid bag?",
        "what's in lost and found at the moment",
        "Who sits on the committee?",
        "authors of the paper, all of them",
        "What prizes can people win - all three please",
        "Welche vier Punkte sind offen?",
        "Welche Hunde sind erlaubt?",
    ],
)
def test_several(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "What was the surplus?",
        "What happens when nobody comes?",
        "Which day was the inspection?",
        "On which date does the class begin?",
        "Which child comes by bus?",
        "What does this cost?",
        "What did Miss Webb get?",
        "Who leads the club?",
        "Was ist das?",
    ],
)
def test_one(question: str) -> None:
    assert not asks_for_several(question)
