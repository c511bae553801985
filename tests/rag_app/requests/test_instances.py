"""Which requests ask for every place, and what the reader is asked then."""

from __future__ import annotations

import pytest

from generator.request import AskRequest
from rag_app.requests.instances import asked_in
from rag_app.requests.router import route
from tests.rag_app.requests.test_router import CATALOGUE, THREE

EVERY = [
    ("Every time the budget was discussed", "What was said about the budget?"),
    ("Show me all the places where the launch came up", "What was said about the launch?"),
    ("List every passage that criticises the radio", "criticises the radio?"),
    ("Everything that was said about the rubber case", "What was said about the rubber case?"),
    ("How often did we postpone?", "did we postpone?"),
    ("Jedes Mal, als das Budget sank", "Budget sank?"),
    ("Wie oft haben wir die Wahl verschoben?", "did we Wahl verschoben?"),
]


@pytest.mark.parametrize(("question", "asked"), EVERY)
def test_every_place_is_asked_for(question: str, asked: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind == "instances"
    assert asked_in(question) == asked


def test_of_a_document_that_is_named() -> None:
    limited = route(AskRequest("Every time the launch was discussed in heron-3"), CATALOGUE)
    assert limited.target.kind == "instances" and limited.request.where.documents == (THREE,)
    assert asked_in(limited.request.asked) == "What was said about the launch?"


@pytest.mark.parametrize(
    "question",
    [
        "Which suppliers were named?",
        "How many units failed?",
        "How often does the committee meet?",
        "How often do they vacuum?",
        "How many times was the machine restarted?",
        "What happens every time the alarm rings?",
        "At all times, who has the key?",
    ],
)
def test_a_question_stays_one(question: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind == "question"
    assert asked_in(question) == question.strip("?") + "?"
