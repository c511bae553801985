"""Days that words mean, beside a calendar; what can be read in two ways is no day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from indexing.text.days.deadline import day_meant
from indexing.text.days.stated_date import WEEKDAYS

MONDAY = "2026-01-12"


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("tomorrow", "2026-01-13"),
        ("heute", "2026-01-12"),
        ("bis übermorgen", "2026-01-14"),
        ("by Friday", "2026-01-16"),
        ("by Monday", "2026-01-19"),  # said on a Monday
        ("bis Donnerstag", "2026-01-15"),
        ("by the end of January", "2026-01-31"),
        ("by the end of the month", "2026-01-31"),
        ("bis Ende Februar", "2026-02-28"),
        ("by the end of the year", "2026-12-31"),
        ("by the twelfth", "2026-02-12"),
        ("by the nineteenth", "2026-01-19"),
        ("bis 12. Mai", "2026-05-12"),
        ("bis 3.2.", "2026-02-03"),
        ("by 14 March 2027", "2027-03-14"),
        ("bis 14.11.2025", "2025-11-14"),
        ("by March 20", "2026-03-20"),
        ("before Christmas", "2026-12-25"),
        ("in two weeks", "2026-01-26"),
        ("within ten days", "2026-01-22"),
    ],
)
def test_the_day_is_counted_from_the_day_on_which_it_is_said(words: str, day: str) -> None:
    assert day_meant(words, MONDAY) == day


def test_a_weekday_is_the_next_one_of_that_name() -> None:
    for said in (date(2026, 1, 1) + timedelta(number) for number in range(14)):
        for name in WEEKDAYS:
            day = said + timedelta(1)
            while day.strftime("%A").lower() != name:
                day += timedelta(1)
            assert day_meant(f"by {name.title()}", said.isoformat()) == day.isoformat()


@pytest.mark.parametrize(
    "words",
    [
        "next Friday",
        "by next week",
        "by the end of the week",
        "bis nächsten Samstag",
        "before the next meeting",
        "as soon as possible",
        "in a few days",
        "by 31 February",
        "bis 99. Mai",
        "by 3 January",  # nine days ago, or next year
        "",
    ],
)
def test_what_is_not_certain_is_no_day(words: str) -> None:
    assert day_meant(words, MONDAY) == ""


def test_without_the_day_of_the_meeting_only_a_whole_date_is_known() -> None:
    for said in ("", "2026-01", "soon"):
        assert day_meant("by Friday", said) == ""
        assert day_meant("by 14 March 2027", said) == "2027-03-14"


def test_a_day_without_its_year_is_the_next_one() -> None:
    assert day_meant("by 3 February", "2025-11-12") == "2026-02-03"
