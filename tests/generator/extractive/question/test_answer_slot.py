"""The kind of value that a question asks for, and which texts have one."""

from __future__ import annotations

import pytest

from generator.extractive.question.answer_slot import asked_slot, fills


@pytest.mark.parametrize(
    ("question", "name", "filled", "unfilled"),
    [
        ("What time is the huddle?", "clock", "At quarter to ten.", "On Monday 3 March."),
        ("Um wie viel Uhr beginnt die Sitzung?", "clock", "Um 18 Uhr.", "Am Montag."),
        (
            "How much did the fridge cost?",
            "money",
            "It was £1,240 in the end.",
            "It was 4 feet tall.",
        ),
        (
            "How much money is left for travel?",
            "money",
            "Line: Travel | Planned: 4600 | Left: 650",
            "Line: Travel | Planned: yes | Since: 2025-03-01",
        ),
        ("how much is the coach", "money", "The coach is £465.", "Quote: coach | By when: 30 May"),
        (
            "what is the claim number for the pipe",
            "identifier",
            "Number is GP-25-00731, write it on everything.",
            "In 2025, on 2025-03-01, $61,480 was paid for four 900s; call 312-555-0121.",
        ),
        ("What is the number of our permit?", "identifier", "It is SK-2025/118.", "It has two."),
        ("Welches Kennzeichen hat er?", "identifier", "FÜ-WE 1142", "Er hat noch keines."),
        ("Was kostet der Kran?", "money", "CHF 4'200 im Monat.", "Er ist bald da."),
        ("What percentage of doctors passed?", "share", "It was 74 per cent.", "Some passed."),
        ("What signing bonus did she get?", "money", "She got $4,000.", "She starts in May."),
        ("the bill of Gwen, how much was it", "money", "It was £31.50.", "She has sent it."),
        ("What did Bill say about the fine print?", None, "", ""),
        ("Which phone number is on the crane?", "phone", "Call 061 555 14 12.", "Call 318 first."),
        (
            "Li Wei's telephone number",
            "phone",
            "Who: Li Wei | Telephone: 4471",
            "Who: Li Wei | Day: 24",
        ),
        ("When does the bus leave?", "date", "It leaves at 7.58.", "It leaves late."),
        ("When is the tour?", "date", "At ten this morning.", "At ten pounds, from two sellers."),
        ("Wann ist die Abnahme?", "date", "Am 14. März.", "Bald."),
        ("How long did the outage last?", "duration", "Fifty-two minutes.", "Too long."),
        ("How many forms came back?", "number", "Nineteen came back.", "They came back."),
        ("Why was it cut?", None, "", ""),
        ("Was the deposit of the fee repaid in time?", None, "", ""),
        ("Was Maren paid a fee?", None, "", ""),
        ("Did they say what happened when it rained?", None, "", ""),
    ],
)
def test_what_is_asked_and_what_fills_it(
    question: str, name: str | None, filled: str, unfilled: str
) -> None:
    slot = asked_slot(question)
    assert (slot.name if slot else None) == name
    if slot is not None:
        assert fills(slot, question, filled)
        assert not fills(slot, question, unfilled)


def test_a_value_that_the_question_says_answers_nothing() -> None:
    question = "How much of the £32.60 does a nurse get paid?"
    slot = asked_slot(question)
    assert slot is not None
    assert not fills(slot, question, "It is £32.60 an hour.")
    assert fills(slot, question, "Of the £32.60 she gets £21.10.")
