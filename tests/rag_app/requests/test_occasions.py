"""Times and people in questions: of a meeting, or of the matter, or of nobody here."""

from __future__ import annotations

from datetime import date

import pytest

from indexing.filter import Filter
from rag_app.requests.occasions import KnownMeetings, nothing_in_words, occasion_mentions

MEETINGS = KnownMeetings(
    {"a": "2026-03-14", "b": "2026-05-12", "c": "2025-03-02", "report": "2026-06-30"},
    frozenset({"Ada Park", "Bob Stone", "Cem Aydin"}),
    frozenset("abc"),
)
TODAY = date(2026, 11, 22)  # a Sunday


@pytest.mark.parametrize(
    ("question", "mention", "limits"),
    [
        ("What did we decide in March?", "in March", "of 2026-03"),
        ("What did Ada say on 14 March 2026?", "on 14 March 2026", "of 2026-03-14"),
        ("What did Ada say on May 12th about it?", "on May 12th", "of 2026-05-12"),
        ("decisions of our meetings, from 2025", "from 2025", "of 2025"),
        ("What was said in the last meeting?", "in the last meeting", "of 2026-05-12"),
        ("in our most recent call, who spoke?", "in our most recent call", "of 2026-05-12"),
        ("Why did it fail in the meeting of 12 May?", "in the meeting of 12 May", "of 2026-05-12"),
        ("Summarize the 12 May meeting", "the 12 May meeting", "of 2026-05-12"),
        ("Summarize all meetings from March", "all meetings from March", "of 2026-03"),
        ("What was agreed since April?", "since April", "since 2026-04"),
        ("What was agreed after 14 March?", "after 14 March", "since 2026-03-15"),
        ("What was agreed after December 2025?", "after December 2025", "since 2026-01-01"),
        ("Who spoke before May?", "before May", "until 2026-04-30"),
        ("What did Ada say until May?", "until May", "until 2026-05"),
        (
            "What was said between March and May?",
            "between March and May",
            "since 2026-03, until 2026-05",
        ),
        ("What did they say yesterday?", "yesterday", "of 2026-11-21"),
        ("What was decided last month?", "last month", "of 2026-10"),
        (
            "What happened in last week's meeting?",
            "in last week's meeting",
            "since 2026-11-09, until 2026-11-15",
        ),
        ("Why so late in the meeting with Bob?", "in the meeting with Bob", "with Bob"),
        (
            "Summarize calls with Ada Park and Cem about it",
            "calls with Ada Park and Cem",
            "with Ada Park and Cem",
        ),
        ("In March, what did we decide about sales?", "In March", "of 2026-03"),
        ("Which decisions were taken in March?", "in March", "of 2026-03"),
        ("What did we discuss with Cem in May?", "in May", "of 2026-05"),
        ("Was beschloss der Ausschuss im März?", "im März", "of 2026-03"),
        ("Was haben wir im März beschlossen?", "im März", "of 2026-03"),
        ("Was sagte Ada am 14. März 2026?", "am 14. März 2026", "of 2026-03-14"),
        ("Was wurde in der letzten Sitzung gesagt?", "in der letzten Sitzung", "of 2026-05-12"),
        ("Beim jüngsten Treffen, wer sprach?", "Beim jüngsten Treffen", "of 2026-05-12"),
        ("Warum in der Sitzung vom 12. Mai?", "in der Sitzung vom 12. Mai", "of 2026-05-12"),
        ("Wer war in der Maisitzung?", "in der Maisitzung", "of 2026-05"),
        (
            "Fasse alle Besprechungen aus dem März zusammen",
            "alle Besprechungen aus dem März",
            "of 2026-03",
        ),
        ("Was wurde im Jahr 2025 in Sitzungen gesagt?", "im Jahr 2025", "of 2025"),
        ("Was wurde nach dem 14. März vereinbart?", "nach dem 14. März", "since 2026-03-15"),
        ("Was wurde seit April besprochen?", "seit April", "since 2026-04"),
        ("Wer sprach vor Mai?", "vor Mai", "until 2026-04-30"),
        (
            "Was wurde zwischen März und Mai gesagt?",
            "zwischen März und Mai",
            "since 2026-03, until 2026-05",
        ),
        (
            "Was wurde in der vorigen Woche beschlossen?",
            "in der vorigen Woche",
            "since 2026-11-09, until 2026-11-15",
        ),
        ("Die gestrige Teamsitzung, was kam heraus?", "Die gestrige Teamsitzung", "of 2026-11-21"),
        ("Warum so spät im Gespräch mit Bob?", "im Gespräch mit Bob", "with Bob"),
        (
            "Fasse die Gespräche mit Ada Park und Cem zusammen",
            "die Gespräche mit Ada Park und Cem",
            "with Ada Park and Cem",
        ),
    ],
)
def test_what_limits_a_question(question: str, mention: str, limits: str) -> None:
    (found,) = occasion_mentions(question, lambda: MEETINGS, today=TODAY)
    assert question[found.start : found.end] == mention
    assert found.where.occasion_in_words() == limits


@pytest.mark.parametrize(
    "question",
    [
        "Why did sales fall in March?",
        "What happened to sales in March?",
        "What was said about sales in March?",
        "Who reported the accident in March?",
        "How many calls did the hotline get in March?",
        "Who attended the fair in March?",
        "Why were prices raised again after the flood in May, as Ada mentioned?",
        "What happened in 2025?",
        "Who proposed the change in 2025?",  # years are mostly of the matter
        "What did Freeman attend in June 1967?",  # before any of these meetings
        "What did the previous review say?",
        "Who may call the office?",
        "Did the march on Rome get mentioned?",
        "What did Ada say about the meeting with nobody?",
        "In the latest budget meeting, what was said?",  # which kind is the last, no date tells
        "What will be done between May and March?",
        "Is there a meeting room?",
        "What was said in Marchfield?",
        "When is the next meeting?",
        "Who has been chasing it since the March meeting?",  # elsewhere, if anywhere
        "What was done before the meeting of 12 May?",
        "Wer kümmert sich darum seit der letzten Sitzung?",
        "What did Ada say on 31 February 2026?",
        "Warum fiel der Umsatz im März?",
        "Was wurde über den Umsatz im März gesagt?",
        "Wer hat zum Unfall im März berichtet?",
        "Was wurde 2025 gebaut?",
        "Was wurde in der letzten Budgetsitzung gesagt?",  # which of its kind, no date tells
        "Was sagte Ada über das Treffen mit niemandem?",
        "Wann ist die nächste Sitzung?",
    ],
)
def test_what_does_not(question: str) -> None:
    assert occasion_mentions(question, lambda: MEETINGS, today=TODAY) == []


def test_without_dates_or_people_there_is_nothing_to_limit_to() -> None:
    nothing = KnownMeetings({}, frozenset())
    for question in ("What did we decide in March?", "What was said in the meeting with Bob?"):
        assert occasion_mentions(question, lambda: nothing, today=TODAY) == []


def test_both_at_once() -> None:
    question = "What did we decide in March in the meeting with Bob?"
    found = occasion_mentions(question, lambda: MEETINGS, today=TODAY)
    assert [one.where.occasion_in_words() for one in found] == ["of 2026-03", "with Bob"]


def test_a_hostile_question_takes_no_time() -> None:
    english = ("in the meeting with " * 500, "between May and " * 500, "the last " * 1000)
    german = ("in der Sitzung mit " * 500, "zwischen Mai und " * 500, "der letzten " * 1000)
    for text in (*english, *german, "a-" * 5000):
        occasion_mentions(text, lambda: MEETINGS, today=TODAY)


def test_nothing_in_words() -> None:
    named = Filter(documents=("a",), path="*.vtt", since="2026-07-01", until="2026-07-01")
    assert nothing_in_words(named, []) == (
        "No document matches: among those named, files like *.vtt, dated 2026-07-01."
    )
    where = Filter(since="2026-07", participants=("Ada",))
    said = nothing_in_words(where, ["2026-03-14", "", "2026-05-12"])
    assert said == (
        "No document matches: since 2026-07, with Ada. Those with a date are of 2026-03-14 to "
        "2026-05-12. 1 has no date."
    )
