"""Which questions ask for two things."""

from __future__ import annotations

import pytest

from generator.extractive.question.two_questions import asks_twice


@pytest.mark.parametrize(
    ("question", "twice"),
    [
        ("What did the oven cost at first, and what does it come to now?", True),
        ("Who took the flat and who lived in it before?", True),
        ("How much more do we charge than Janine assumed?", True),
        ("Wie viele Plätze waren beantragt und wer darf fahren?", True),
        ("How does the price compare with the estimate?", True),
        ("What is the budget?", False),
        ("Who are Ada and Ben?", False),
        ("When and with whom did she travel?", True),
        ("What did he say when he left?", False),
        ("Was kostet die Fähre?", False),
    ],
)
def test_what_asks_twice(question: str, twice: bool) -> None:
    assert asks_twice(question) == twice
