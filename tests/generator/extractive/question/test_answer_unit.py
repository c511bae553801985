"""A number of seconds answers no question of hours."""

from __future__ import annotations

import pytest

from generator.extractive.short_answer import is_in_another_unit


@pytest.mark.parametrize(
    ("question", "words", "text", "expected"),
    [
        ("How many hours of audio was it?", "30", "on 30-second chunks", True),
        ("How many hours of audio was it?", "30-second", "on 30-second chunks", True),
        ("How many hours of audio was it?", "680,000", "on 680,000 hours of audio", False),
        ("How many working hours was it?", "3", "it took 3 days", True),
        ("How many hours was it?", "3", "it took 3, in 5 minutes each", False),
        ("How many people came?", "3", "for 3 days", False),
        ("How long did it take?", "3", "for 3 days", False),
        ("Wie viele Stunden dauerte es?", "30", "nur 30 Minuten lang", True),
        ("Wie viel Prozent waren es?", "30 %", "es waren 30 % davon", False),
        ("How many meters is it?", "5 km", "5 km away", True),
    ],
)
def test_units(question: str, words: str, text: str, expected: bool) -> None:
    at = text.index(words)
    assert is_in_another_unit(question, text, at, at + len(words)) == expected
