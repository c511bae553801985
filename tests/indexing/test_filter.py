"""Limits by date and participants: what they admit, and what is no limit."""

from __future__ import annotations

import pytest

from indexing.errors import InvalidRequest
from indexing.filter import Filter


def admits(where: Filter, day: str = "", people: tuple[str, ...] = ()) -> bool:
    return where.admits(id_="a", title="b", path="/c", day=day, people=people)


@pytest.mark.parametrize(
    ("since", "until", "days"),
    [
        ("2026-03", None, ("2026-03-01", "2026-03-14", "2027-01-01")),
        (None, "2026-03", ("2025-12-31", "2026-03-01", "2026-03-14")),
        ("2026-03", "2026-03", ("2026-03-01", "2026-03-14")),
        ("2026-03-02", "2026", ("2026-03-14",)),
        ("14 March 2026", " ", ("2026-03-14", "2027-01-01")),
    ],
)
def test_days_of_a_period(since: str | None, until: str | None, days: tuple[str, ...]) -> None:
    every = ("", "2025-12-31", "2026-03-01", "2026-03-14", "2027-01-01")
    where = Filter(since=since, until=until)
    assert where
    assert tuple(day for day in every if admits(where, day)) == days


def test_all_participants_count() -> None:
    people = ("Ada Park", "Bob Stone")
    assert admits(Filter(participants=("ada",)), people=people)
    assert admits(Filter(participants=("park", "BOB ")), people=people)
    assert not admits(Filter(participants=("ada", "Cem")), people=people)
    assert not admits(Filter(participants=("ada",)))
    assert not Filter(participants=("", " "))
    assert admits(Filter())


@pytest.mark.parametrize("value", ["tomorrow", "2026-13", "2026-02-30", "03-04-2026", "1", "99999"])
def test_what_is_no_date(value: str) -> None:
    with pytest.raises(InvalidRequest, match="2026-03-14"):
        Filter(since=value)


def test_a_period_that_ends_before_it_begins() -> None:
    with pytest.raises(InvalidRequest, match="swap"):
        Filter(since="2026-04", until="2026-03-31")


def test_in_words() -> None:
    assert Filter(since="2026-03", until="2026-03").occasion_in_words() == "of 2026-03"
    where = Filter(since="2026-03", until="2026-05", participants=("Ada", "Bob"))
    assert where.occasion_in_words() == "since 2026-03, until 2026-05, with Ada and Bob"
