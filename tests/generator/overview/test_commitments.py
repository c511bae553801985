"""Decisions and actions: found where people commit themselves, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.overview.blocks import blocks
from generator.overview.commitments import Commitment, CommitmentKind, commitments
from generator.overview.people import People
from indexing.documents import Document
from indexing.files import document
from indexing.text.transcripts import find_utterances


def said(*lines: str) -> list[str]:
    return [f"{'Ada' if number % 2 == 0 else 'Bo'}: {line}" for number, line in enumerate(lines)]


def talk(line: str) -> str:
    return "\n".join(said("Good morning.", "Good morning to you.", line, "Thank you very much."))


def found(kind: CommitmentKind, text: str) -> list[Commitment]:
    return [one for one in commitments(blocks(transcript(text))) if one.kind == kind]


def transcript(text: str) -> Document:
    return replace(document(text, name="talk"), utterances=find_utterances(text))


@pytest.mark.parametrize(
    ("line", "who", "when"),
    [
        ("I'll send you the figures by Friday.", "Ada", "by Friday"),
        ("I will check with the supplier tomorrow morning.", "Ada", "tomorrow morning"),
        (
            "I'm going to write up the minutes before the next meeting.",
            "Ada",
            "before the next meeting",
        ),
        ("Bo will order two more pots.", "Bo", None),
        ("I'll have the drawings done by Monday.", "Ada", "by Monday"),
        ("Action item: the contract on 3 March.", None, "on 3 March"),
    ],
)
def test_actions(line: str, who: str | None, when: str | None) -> None:
    text = talk(line)
    (action,) = found("action", text)
    assert (action.sentence.text, action.who, action.when) == (line, who, when)


@pytest.mark.parametrize(
    "line",
    [
        "Will you send the figures by Friday?",
        "If you like, I'll send the figures.",
        "I'll show you the picture.",
        "I would send the figures.",
        "I'll ask you a few more questions.",
        "I'll have a look at it now.",
        "Priya will order two more pots.",  # she does not speak: a word like it may be no name
        "He said I will send the figures.",
        "He said that he sends them on Friday.",
    ],
)
def test_no_actions(line: str) -> None:
    assert found("action", talk(line)) == []


@pytest.mark.parametrize(
    "line",
    [
        "We decided to drop the lithium cell.",
        "So we've agreed on the second of June.",
        "It was agreed that the pot stays.",
        "Let's go with the yellow case.",
        "Then it's decided: Brackendale for the probe.",
    ],
)
def test_decisions(line: str) -> None:
    assert [each.sentence.text for each in found("decision", talk(line))] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "Have we decided to drop it?",
        "If we decided to drop it, we'd save a pound.",
        "We haven't decided on the colour.",
        "Maybe we agreed to that.",
        "Have we agreed on the colour then.",
        "Let's go for lunch.",
        "We'll go with that.",
        "Those are the points we agreed on today.",
    ],
)
def test_no_decisions(line: str) -> None:
    assert found("decision", talk(line)) == []


MINUTES = """Minutes of the board, 12 January 2026
Present: Maren Osei, Jens Petersen, Ada Park

{line}

Nothing else was said.
"""


def of_minutes(line: str) -> list[Commitment]:
    text = MINUTES.format(line=line)
    people = People(["Maren Osei", "Jens Petersen", "Ada Park"])
    return commitments(blocks(document(text, name="minutes")), people)


@pytest.mark.parametrize(
    ("line", "who", "when"),
    [
        ("Action: Maren to write to Ellmere by 20 March.", "Maren Osei", "by 20 March"),
        ("ACTION (Ada): find an engineer", "Ada Park", None),
        ("Action item: somebody paints the door", None, None),
        ("Maren agreed to draft the letter.", "Maren Osei", None),
        ("Maren and Ada will check with the bank.", "Maren Osei, Ada Park", None),
        ("Jens Petersen übernimmt die Plakate bis Freitag.", "Jens Petersen", "bis Freitag"),
        ("Jens kümmert sich um die Miete der Aula.", "Jens Petersen", None),
        ("Jens wird bis Ende März drei Angebote einholen.", "Jens Petersen", "bis Ende März"),
        ("Aufgabe: Frau Park fragt die Schule (bis Freitag).", "Ada Park", "bis Freitag"),
        ("To-do: Plakate drucken (Jens, bis 3.2.)", "Jens Petersen", "bis 3.2."),
    ],
)
def test_actions_of_minutes(line: str, who: str | None, when: str | None) -> None:
    (action,) = of_minutes(line)
    assert (action.kind, action.sentence.text) == ("action", line)
    assert (action.who, action.when) == (who, when)


@pytest.mark.parametrize(
    "line",
    [
        "Beschluss: Der Vorstand kauft neue Noten.",
        "Der Vorstand beschließt einstimmig, die Leitung zu erneuern.",
        "Es wurde beschlossen, das Fest am 27. Juni zu feiern.",
        "Der Antrag auf ein Hundeverbot wurde abgelehnt.",
        "AGREED: the stage stays on the quay.",
        "Resolved that the hedge be cut to five feet.",
        "The committee approved the budget of 300 pounds.",
        "I propose tiles for the roof. Everybody agreed to that.",
    ],
)
def test_decisions_of_minutes(line: str) -> None:
    (found,) = of_minutes(line)
    assert found.kind == "decision" and line.startswith(found.sentence.text)


@pytest.mark.parametrize(
    "line",
    [
        "Open question: Who keeps the second key?",
        "It remains open whether there is room for a hedgehog house.",
        "We still don't know whether the insurance covers visitors.",
        "Offen ist, ob der Verein die Busse bezahlt.",
        "Zu klären: Wer holt den Wein?",
        "Es ist noch nicht geklärt, wer den Schlüssel bekommt.",
    ],
)
def test_questions_of_minutes(line: str) -> None:
    (found,) = of_minutes(line)
    assert (found.kind, found.sentence.text) == ("question", line)


@pytest.mark.parametrize(
    "line",
    [
        "Maren said that Ada will send it.",
        "Who keeps the second key?",
        "Jens berichtet, dass die Leitung dreimal geplatzt ist.",
        "Ob das gut aussieht, weiß noch keiner.",
        "Ulrike schlug vor, ein Kinderlied zu nehmen.",
        "If the question remains open, we ask again.",
        "Jens wird nicht gefragt.",
        "TOP 3: Verschiedenes",
        "It was suggested that we should have a web site.",
    ],
)
def test_nothing_in_minutes(line: str) -> None:
    assert of_minutes(line) == []


def test_items_below_a_heading_are_of_its_kind_until_it_ends() -> None:
    line = """## Actions

- Maren: write to Ellmere by 20 March
- paint the door (Ada)

## Open questions

1. Where do the coaches park?

## Other

- The cake was good."""
    found = [(one.kind, one.sentence.text, one.who, one.when) for one in of_minutes(line)]
    assert found == [
        ("action", "- Maren: write to Ellmere by 20 March", "Maren Osei", "by 20 March"),
        ("action", "- paint the door (Ada)", "Ada Park", None),
        ("question", "1. Where do the coaches park?", None, None),
    ]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Open questions:", "question"),
        ("Offene Fragen:", "question"),
        ("Decisions:", "decision"),
        ("Beschlüsse:", "decision"),
        ("Actions:", "action"),
    ],
)
def test_a_heading_without_marks_is_no_item(heading: str, kind: str) -> None:
    found = of_minutes(f"{heading}\n- the room for the cake, Ada Park\n- the ladder in the shed\n")
    assert [(one.kind, one.sentence.text) for one in found] == [
        (kind, "- the room for the cake, Ada Park"),
        (kind, "- the ladder in the shed"),
    ]


def test_rows_of_a_table_of_actions() -> None:
    line = """| Action | Who | By when |
|---|---|---|
| Cut the hedge | Jens | 18 April |
| Answer the neighbour | Maren | |

| Item | Price | Shop |
|---|---|---|
| Paint | 20 | Mill |"""
    found = [(one.kind, one.who, one.when) for one in of_minutes(line)]
    assert found == [("action", "Jens Petersen", "18 April"), ("action", "Maren Osei", None)]


def test_a_request_counts_if_whoever_is_asked_says_yes() -> None:
    asked = "Bo, can you order the posters by Friday?"
    for answer, who in (("Sure, no problem.", "Bo"), ("I have no time.", None)):
        text = "\n".join(said("Good morning.", "Hello.", asked, answer, "Thank you."))
        assert [one.who for one in found("action", text)] == [who] * (who is not None)


def test_what_is_announced_goes_on_with_the_next_sentence() -> None:
    (decision,) = found("decision", talk("Decided. The price is ninety-two pounds."))
    assert decision.sentence.text == "Decided. The price is ninety-two pounds."


@pytest.mark.parametrize("words", ["A" * 50_000, "I'll " * 20_000, "wird " * 20_000, "(" * 50_000])
def test_a_long_line_takes_no_long_time(words: str) -> None:
    assert len(of_minutes(words)) <= 1


def test_tokenized_speech_with_its_noise_is_read_and_quoted_as_it_stands() -> None:
    line = "Well , I {disfmarker} I 'll send it to Dave , uh , by tomorrow ."
    (action,) = found("action", talk(line))
    assert (action.sentence.text, action.who, action.when) == (line, "Ada", "by tomorrow")
