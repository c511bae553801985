"""Questions made from sentences ask for what these say, and stand by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from generator.overview.overview import overview
from indexing.files import document
from indexing.text.chunking import split
from rag_app.chat.welcome.candidates import Candidate, candidates


def every(text: str) -> list[Candidate]:
    source = document(text, name="minutes")
    passages = split(source)
    return candidates(source, overview(source, passages, np.zeros((len(passages), 4), np.float32)))


def made(text: str) -> list[Candidate]:
    """Those that are made from its sentences."""
    return [one for one in every(text) if not one.request]


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("The Trust was founded in 1988 by anglers.", "When was the Trust founded?"),
        ("The report was edited by Rosalind Achebe.", "Who edited the report?"),
        ("The colony at Brayle had 27 nests.", "How many nests did the colony at Brayle have?"),
        ("Each backup takes 38 minutes.", "How long does each backup take?"),
        ("A pass would cost £310,000.", "How much does a pass cost?"),
        ('"Batch" means all Probes of one note.', 'What does "Batch" mean?'),
        ("You have 27 days of paid leave a year.", "How many days of paid leave do you have?"),
        (
            "Then it's decided: Brackendale for the nitrate probe, at eleven pounds.",
            "What was decided about the nitrate probe?",
        ),
        ("I'll ring Harold at five past.", "Who will ring Harold at five past?"),
        ("The hire period starts on Friday 13 June.", "When does the hire period start?"),
        ("The re-audit is moved from August to 2 September.", "When is the re-audit?"),
        (
            "From that day Grace Oluwole is the infection control link nurse.",
            "Who is the infection control link nurse?",
        ),
        # What leans on what was said before, or says something else, gives none.
        ("I'll ring her at five past.", None),
        ("It will be considered next year.", None),
        ("The gasket takes a set after a year.", None),
        ("The report was edited in a hurry.", None),
    ],
)
def test_a_sentence_gives_its_question(sentence: str, question: str | None) -> None:
    text = f"Ann: We met at nine.\nBob: {sentence}\nAnn: Well, thank you all.\n"
    found = made(text)
    assert [one.question for one in found] == ([question] if question else [])
    assert all(sentence in text[one.start : one.end] for one in found)


def test_each_template_has_its_turn() -> None:
    terms = " ".join(f'"{word}" means a thing.' for word in ("Batch", "Probe", "Order", "Notice"))
    found = [one.question for one in made(f"{terms} The Trust was founded in 1988.")]
    assert found[:2] == ["When was the Trust founded?", 'What does "Batch" mean?']
    assert len(found) == 5


FILLED = "Wir haben uns heute mit dem Haushalt und mit allem befasst, was es sonst noch gibt."


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Der Verein wurde 1988 von Anglern gegründet.", "Wann wurde der Verein gegründet?"),
        (
            "Der Bericht wurde von Rosa Achenbach herausgegeben.",
            "Von wem wurde der Bericht herausgegeben?",
        ),
        (
            "Die Kosten der Sanierung betragen 450.000 Euro.",
            "Wie hoch sind die Kosten der Sanierung?",
        ),
        ("Die Sicherung dauert etwa 38 Minuten.", "Wie lange dauert die Sicherung?"),
        ("Ein Fischpass würde viel Geld kosten.", None),
        ("Eine Sonde kostet elf Euro.", "Wie viel kostet eine Sonde?"),
        (
            "Frau Müller wurde zur neuen Leiterin des Bauamts gewählt.",
            "Wer wurde zur neuen Leiterin des Bauamts gewählt?",
        ),
        (
            "Der Antrag auf einen neuen Spielplatz wurde abgelehnt, weil er zu teuer ist.",
            "Warum wurde der Antrag auf einen neuen Spielplatz abgelehnt?",
        ),
        (
            "Die Bibliothek bleibt wegen des Umbaus im August geschlossen.",
            "Wann bleibt die Bibliothek geschlossen?",
        ),
        ("„Charge“ bezeichnet alle Sonden eines Scheins.", "Was ist mit „Charge“ gemeint?"),
        (
            "Wir haben beschlossen, dass die neue Ausstellung am 4. April eröffnet wird.",
            "Wann wird die neue Ausstellung eröffnet?",
        ),
        (
            "Der Rat hat beschlossen, die alte Brücke zu sanieren.",
            "Was wurde über die alte Brücke beschlossen?",
        ),
        ("Die Mietzeit beginnt am 13. Juni.", "Wann beginnt die Mietzeit?"),
        ("Der wiegt 640 Kilo mit Sockel und kostet 20 Euro.", None),
        ("Die Leitung dieser Gruppe kostet 20 Euro.", None),
        ("Der Bericht wurde in Eile herausgegeben.", None),
    ],
)
def test_a_german_sentence_gives_a_german_question(sentence: str, question: str | None) -> None:
    text = f"{FILLED} {sentence} {FILLED}"
    assert [one.question for one in made(text)] == ([question] if question else [])


def test_a_document_in_a_language_without_templates_gives_none() -> None:
    text = (
        "Le comité a été fondé en 1988 par les pêcheurs de la ville, et il est dans une maison qui "
        "est à eux. The Trust was founded in 1988 by anglers."
    )
    assert made(text) == []
    assert [one.question for one in every(text)] == ["Summarize minutes"]


def test_what_any_document_can_be_asked_comes_last() -> None:
    talk = "Ann: We met at nine.\nBob: We decided to buy the boat.\nAnn: Thank you all.\n"
    assert [one.question for one in every(talk)] == [
        "What was decided in minutes?",
        "Who spoke in minutes?",
        "Summarize minutes",
    ]
    german = f"{FILLED} Der Verein wurde 1988 von Anglern gegründet. {FILLED}"
    assert [one.question for one in every(german)][-1] == "Fasse minutes zusammen"
    assert not every(german)[0].request
