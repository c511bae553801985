"""A piece of evidence in a prompt: its place, its day, who speaks."""

from __future__ import annotations

from dataclasses import replace

from generator.evidence import Span
from generator.prompt.evidence_block import evidence_block, latest_day
from indexing.documents import Occasion
from tests.generator.conftest import prose, span, transcript

MEETING = transcript([("Anna", "We launch in March. It is settled."), ("Ben", "Fine.")])


def held(day: str, name: str = "meeting") -> Span:
    return span(replace(MEETING, id=name, occasion=Occasion(day, "first lines", (), "")))


def test_a_day_is_said_in_words_and_the_latest_pointed_out() -> None:
    early, late = held("2025-11-17"), held("2025-12-08T10:00", "other")
    latest = latest_day([early, late])
    assert latest == "2025-12-08"
    assert evidence_block(1, early, latest=latest) == (
        "\nEvidence 1: Meeting, a document of 17 November 2025, 00:00:00\n"
        "> Anna: We launch in March. It is settled.\n> Ben: Fine.\n"
    )
    assert "8 December 2025 (the latest)" in evidence_block(2, late, latest=latest)


def test_one_day_is_not_the_latest() -> None:
    assert latest_day([held("2025-11-17"), held("2025-11-17", "other"), span(MEETING)]) == ""
    assert latest_day([span(prose("No day."))]) == ""


def test_who_speaks_is_said_where_the_label_is_left_out() -> None:
    start = MEETING.text.index("It is settled")
    part = Span(MEETING, start, start + 14, 1.0)
    assert evidence_block(3, part) == "\nEvidence 3: Meeting, 00:00:00\n> Anna: It is settled.\n"
    whole = Span(MEETING, 0, start, 1.0)
    assert "> Anna: We launch in March.\n" in evidence_block(1, whole)
    assert "Evidence 1: Report\n> Some text.\n" in evidence_block(1, span(prose("Some text.")))
