"""Types of answers, and questions that are open."""

from __future__ import annotations

import pytest

from generator.extractive.question.answer_type import classify_question, has_answer_type, is_open


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why was it cut?", "reason"),
        ("What is the date of the budget?", "time"),
        ("How many cars does it carry?", "quantity"),
        ("Who paints it?", "person"),
        ("What does it carry?", None),
        ("Did anyone say when it sails?", "time"),
        ("Who was there when it sailed?", "person"),
        ("How much was paid when it was sold?", "quantity"),
        ("What did the woman who owns it say when they spoke of masts?", None),
        ("Summarize what was said when it sailed.", None),
        ("Wann fährt sie, und wer zahlt?", "time"),
    ],
)
def test_kinds_of_questions(question: str, kind: str | None) -> None:
    assert classify_question(question) == kind


def test_kinds_of_answers() -> None:
    assert has_answer_type("time", "It sails on Monday.")
    assert has_answer_type("quantity", "It carries forty cars.")
    assert not has_answer_type("reason", "It carries forty cars.")


@pytest.mark.parametrize(
    "question",
    [
        "What did Ben think of the remote?",
        "What did Ben think of the remote when they discussed its price?",
        "Why was the budget cut?",
        "How did they react to it?",
        "Summarize the discussion of rubber.",
    ],
)
def test_open_questions(question: str) -> None:
    assert is_open(question)


@pytest.mark.parametrize(
    "question",
    [
        "When does the ferry sail?",
        "Who said that the mill burned down?",
        "How many cars did Ben mention?",
        "What is the budget?",
    ],
)
def test_questions_for_a_few_words(question: str) -> None:
    assert not is_open(question)
