"""Days as questions and texts say them."""

from __future__ import annotations

import pytest

from indexing.text.days.in_words import day_in_words, day_pattern


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        ("Fri 4 Apr.", "4 April", "4 April"),
        ("18.05.2025", "18 May", "18 Mai"),
        ("2025-10-03", "3 October", "3 Oktober"),
        ("7 to 18 July", "7 to 18 July", "7 to 18 Juli"),
        ("3 Maybe, 1.5 m, 2025-13-40", "3 Maybe, 1.5 m, 2025-13-40", "3 Maybe, 1.5 m, 2025-13-40"),
    ],
)
def test_days_as_questions_say_them(value: str, english: str, german: str) -> None:
    assert (day_in_words(value, "en"), day_in_words(value, "de")) == (english, german)


@pytest.mark.parametrize(
    ("day", "said", "not_said"),
    [
        ("2025-06-03", "the June 3 meeting", "June 13"),
        ("2025-06-03", "on the 3rd of June", "3 July"),
        ("2025-06-03", "am 3. Juni", "am 13.6."),
        ("2025-06-03", "am 03.06. um zehn", "30.06.2025"),
        ("2025-08", "in August", "the augury"),
    ],
)
def test_texts_say_a_day(day: str, said: str, not_said: str) -> None:
    pattern = day_pattern(day)
    assert pattern.search(said) and not pattern.search(not_said)
