"""When what a question asks for held."""

from __future__ import annotations

import pytest

from generator.extractive.question.moment import asked_moment, question_to_read

DAYS = ("2025-09-08", "", "2025-11", "2026-02-12")


@pytest.mark.parametrize(
    ("question", "kind", "month"),
    [
        ("When is the launch now?", "now", ""),
        ("When was the launch originally?", "once", ""),
        ("Wann war der Start ursprünglich?", "once", ""),
        ("What was the budget in October?", "then", "2025-10"),
        ("Wie hoch war das Budget im November 2025?", "then", "2025-11"),
        ("Who led the field trial in January?", "then", "2026-01"),
        ("What was the budget in May?", "now", ""),  # no document is so old
        ("What is the budget in October?", "now", ""),
        ("How much did we spend in October?", "now", ""),
        ("How did the budget change?", "course", ""),
        ("How did the price of the desk develop?", "course", ""),
        ("How long is the night shift?", "now", ""),
        ("How did the number of guests go up and down?", "course", ""),
        ("List the places of the tasting over the months.", "course", ""),
        ("Wie hat sich das Budget verändert?", "course", ""),
        ("What changes were there to the rent?", "course", ""),
        ("What was the oven first quoted at, and what does it come to now?", "course", ""),
        ("Wie viele waren anfangs angemeldet und wie viele fahren tatsächlich?", "course", ""),
        ("When was the gate first meant to open?", "once", ""),
        ("What is in the box now, and who has the key?", "now", ""),
    ],
)
def test_the_moment_that_is_asked_for(question: str, kind: str, month: str) -> None:
    moment = asked_moment(question, DAYS)
    assert (moment.kind, moment.month) == (kind, month)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the final launch date of Heron?", "When is the launch of Heron?"),
        ("What's the delivery date?", "When is the delivery?"),
        ("What is the date?", "What is the date?"),
        ("Who set the launch date?", None),
        ("What was the budget in September?", "What was the budget?"),
        ("What was the budget in September 2025 for the van?", "What was the budget for the van?"),
        ("What happens in September?", None),
    ],
)
def test_a_question_is_read_in_words_that_are_answered(question: str, asked: str | None) -> None:
    assert question_to_read(question, DAYS) == (asked or question)
