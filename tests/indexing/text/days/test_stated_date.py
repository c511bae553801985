"""The date that a document states of itself."""

from __future__ import annotations

from datetime import date

import pytest

from indexing.text.days.stated_date import stated_date


@pytest.mark.parametrize(
    ("title", "text", "years", "expected"),
    [
        ("Minutes 2026-01-13", "On 4 May 2020 we met before.", (), "2026-01-13"),
        (
            "Minutes",
            "Minutes of 13 January 2026\n\nThe next one is on 3 March 2026.",
            (),
            "2026-01-13",
        ),
        ("Audit, May 2025", "Of the ward.", (), "2025-05"),
        ("Report", "Published in March 2025. " + "x " * 400 + "April 2024", (), "2025-03"),
        ("Bericht", "Stand: Mai 2025", (), "2025-05"),
        ("Call", "It's the sixth of October, a Monday, third meeting.", (2025,), "2025-10-06"),
        ("Call", "Monday the sixth of October, third meeting.", (2024,), "2025-10-06"),
        ("Call", "The twenty-seventh of October.", (2025,), "2025-10-27"),
        ("Call", "It's the sixth of October, a Monday.", (), ""),
        ("Call", "May 2024 was better than June 2024.", (), ""),
        ("Call", "x" * 700 + "4 May 2020", (), ""),
        ("Call", "Good morning.", (2025,), ""),
    ],
)
def test_a_document_says_of_what_day_it_is(
    title: str, text: str, years: tuple[int, ...], expected: str
) -> None:
    assert stated_date(title, text, years=years) == expected


def test_a_spoken_day_is_of_the_last_year_of_its_weekday_where_no_other_date_is_known() -> None:
    today = date(2025, 11, 25)
    assert stated_date("Call", "It's Monday the sixth of October.", today=today) == "2025-10-06"
    assert stated_date("Call", "Tuesday the eighth of October.", today=today) == "2024-10-08"
    assert stated_date("Call", "The sixth of October.", today=today) == ""
