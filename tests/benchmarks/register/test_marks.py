"""Marks are read off, and a register is graded by them as by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from benchmarks.register import HALVES, figures, graded, real_meetings
from benchmarks.register.marks import Mark, marked
from generator.register.register import register
from tests.generator.register.meetings import meeting

ACTION = (
    '<a who="Maren Osei" until="by Friday" due="2026-01-16" matter="letter">'
    "Maren to write the letter to Ellmere by Friday.</a>"
)
FIRST = f"""Minutes of the meeting

Action: {ACTION}

<q matter="key">Who has the key?</q>

It was agreed that nobody is told.
"""
WRONG = '<u matter="letter" tells="done">Maren has written the letter to Ellmere.</u>'


def test_marks_are_taken_out_and_say_where_they_stood() -> None:
    text, marks = marked(FIRST, "a.md")
    assert "<" not in text and [one.kind for one in marks] == ["a", "q"]
    for one in marks:
        assert text[one.start : one.end] == one.text
    assert marks[0].due == "2026-01-16" and marks[1].tells == "open"


def test_figures_are_those_counted_by_hand() -> None:
    text, marks = marked(FIRST, "a.md")
    _, title, *lines = ["", *text.strip().split("\n\n")]
    first = meeting("2026-01-12", *lines)
    assert title == "Minutes of the meeting" and first.text == text
    then_text, more = marked(f"Minutes of the meeting\n\n{WRONG}\n", "b.md")
    then = meeting("2026-02-09", then_text.split("\n\n")[1].strip())
    every: list[Mark] = [*marks, *more]
    files = {first.id: "a.md", then.id: "b.md"}
    counts: dict[str, list[bool]] = {}
    for name, right, _ in graded(every, list(register([first, then])), files):
        counts.setdefault(name, []).append(right)
    # The action, what became of it, and a decision that nobody marked; the question has no label.
    assert sorted(counts["entries that are right (precision)"]) == [False, True, True]
    assert counts["entries found (recall)"] == [True, False]
    assert counts["outcomes found (recall)"] == [True]
    assert counts["who is right"] == counts["the day of it is right"] == [True]
    assert counts["later sentences in the chain"] == [True]
    assert counts["state of a matter is right"] == [True]


@pytest.mark.parametrize("half", HALVES)
def test_every_meeting_is_read(half: str) -> None:
    found = [right for name, right, _ in figures(half) if name == "who is right"]
    assert len(found) > 10


def test_real_meetings_are_graded_by_where_their_marks_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        ("Ada", "Good morning ."),
        ("Bo", "Well , I 'll send you the figures by Friday . Nice ."),
        ("Ada", "We go for the blue one ."),
        ("Bo", "I 'll check with the supplier ."),
    ]
    meeting_of_four = {
        "meeting_transcripts": [{"speaker": who, "content": text} for who, text in said],
        "general_query_list": [],
        "specific_query_list": [],
        "topic_list": [],
    }
    file = tmp_path / "train.jsonl"
    file.write_text(json.dumps(meeting_of_four))
    digest = hashlib.sha256("\n".join(text for _, text in said).encode()).hexdigest()[:16]
    marks = [
        {"kind": "action", "utterance": 1, "start": 7, "end": 43, "who": "Bo", "until": [34, 43]},
        {"kind": "decision", "utterance": 2, "start": 0, "end": 24},
    ]
    known = {"meeting": digest, "half": "counted", "marks": marks}
    monkeypatch.setattr(real_meetings, "_MARKS", tmp_path / "marks.jsonl")
    (tmp_path / "marks.jsonl").write_text(json.dumps(known))
    counts: dict[str, list[bool]] = {}
    for name, right, _ in real_meetings.figures_of("counted", file):
        counts.setdefault(name, []).append(right)
    # What Bo will check, nobody marked; "We go for" is no decision by the words of deciding.
    assert sorted(counts["actions that are right (precision)"]) == [False, True]
    assert counts["actions found (recall)"] == [True]
    assert counts["decisions found (recall)"] == [False]
    assert counts["who is right"] == counts["until when is right"] == [True]
    assert not [*real_meetings.figures_of("developing", file)]
