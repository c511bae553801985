"""Dates: what can be read in one way only is read, and nothing else."""

from __future__ import annotations

import pytest

from indexing.text.days.dates import date_in

DAY = "2026-03-14"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-03-14_standup", DAY),
        ("standup 20260314", DAY),
        ("2026.3.14", DAY),
        ("14.03.2026 Sitzung", DAY),
        ("Sitzung_14.3.2026_Protokoll", DAY),
        ("03-14-2026 sync", DAY),
        ("the 14th of March 2026", DAY),
        ("14. März 2026", DAY),
        ("Mar 14, 2026", DAY),
        ("2026-03-14_10_people", DAY),
        ("2026-03-14 (copy of 2026-03-14)", DAY),
        ("GMT20260314-093012_Recording.transcript", f"{DAY}T09:30:12"),  # Zoom, in the cloud
        ("2026-03-14 09.30.12 Ada's Zoom Meeting", f"{DAY}T09:30:12"),
        ("Standup-20260314_093012-Meeting Recording", f"{DAY}T09:30:12"),  # Teams
        ("Sync (2026-03-14 at 09:30 GMT) - Transcript", f"{DAY}T09:30:00+00:00"),  # Meet
        ("Sync - 2026_03_14 09_30 CET - Notes by Gemini", f"{DAY}T09:30:00"),
        ("March 14, 2026, 1:05PM", f"{DAY}T13:05:00"),
        ("Mar 14, 2026 12:05 a.m.", f"{DAY}T00:05:00"),
        ("2026-03-14T09:30:00Z", f"{DAY}T09:30:00+00:00"),
        ("03-04-2026", ""),  # one day here, another there
        ("2026-02-30", ""),
        ("2026-03-14 to 2026-03-15", ""),
        ("heron-3", ""),
        ("report 2026", ""),
        ("v1.2.2026", ""),
        ("10.1.2026.12", ""),
        ("1234567820260314", ""),
        ("12345-03-14", ""),
        ("9999-01-01", ""),
        ("mayor 14, 2026", ""),
        ("\u0661\u0664.03.2026", DAY),
    ],
)
def test_only_what_can_be_read_in_one_way(text: str, date: str) -> None:
    assert date_in(text) == date


def test_a_hostile_name_takes_no_time() -> None:
    for text in ("1" * 100_000, "1-" * 50_000, "Jan " * 25_000, "2026 " * 20_000, ". " * 50_000):
        assert date_in(text) == ""
