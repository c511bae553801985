"""Requests in German: what each is read as, what it is answered, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.answer import marker_spans
from generator.prompt.follow_up import Turn
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from rag_app.chat.page.segments import paragraphs
from rag_app.corpus.corpus import Corpus
from rag_app.requests.router import route
from tests.rag_app.requests.test_router import CATALOGUE, ONE, THREE, TWO

REQUESTS = [
    ("Welche Dokumente hast du?", "documents", ()),
    ("Bitte liste alle Dateien auf.", "documents", ()),
    ("Wie viele Besprechungen gibt es?", "documents", ()),
    ("Wer war bei der zweiten Besprechung dabei?", "speakers", (TWO,)),
    ("Wer nahm an heron-2 teil?", "speakers", (TWO,)),
    ("Wer hat in heron-3 am meisten gesprochen?", "speakers", (THREE,)),
    ("Nenne die Sprecher.", "speakers", ()),
    ("Können Sie mir bitte heron-1 zusammenfassen?", "summary", (ONE,)),
    ("Fasse die dritte Sitzung kurz zusammen.", "summary", (THREE,)),
    ("Worum geht es in heron-1?", "summary", (ONE,)),
    ("Was wurde in heron-3 beschlossen?", "decisions", (THREE,)),
    ("Welche Aufgaben wurden in heron-3 verteilt?", "decisions", (THREE,)),
    ("In welchen Dokumenten wird der Reiher erwähnt?", "mentions", ()),
    ("Wie oft wird der Preis in heron-3 erwähnt?", "mentions", (THREE,)),
]
QUESTIONS = [
    "Warum wurde der Preis gesenkt?",
    "Wer war der Leiter in Bonn?",
    "Welche Sitzungen hat der Vorstand abgesagt, und warum?",
    "Worum geht es in der Beschwerde?",
    "Was wurde über den Preis beschlossen?",
    "Fasse die Diskussion über den Akku zusammen.",
    "Wer hat wann die Tür geöffnet?",
]
TALK = """Anna: Wir brauchen fünf neue Reusen für den Reiher, und das noch vor dem Sommer.
Bernd: Einverstanden. Die Reuse von gestern ist gebrochen, und der Steg auch.
Anna: Wir haben beschlossen, den Steg im Mai zu streichen, denn dann ist das Wasser niedrig.
Bernd: Das ist gut so. Ich werde die Farbe besorgen, und der Reiher wird nicht gestört.
"""


@pytest.mark.parametrize(("question", "kind", "documents"), REQUESTS)
def test_a_request_is_read_as_what_it_is(
    question: str, kind: str, documents: tuple[str, ...]
) -> None:
    target = route(AskRequest(question), CATALOGUE).target
    assert (target.kind, target.documents, target.language) == (kind, documents, "de")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_normal_question_is_looked_up(question: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind == "question"


def test_a_follow_up_asks_the_same_of_another_document() -> None:
    asked = AskRequest("Und heron-1?", history=(Turn("Wer war in heron-2?", "…"),))
    target = route(asked, CATALOGUE).target
    assert (target.kind, target.documents, target.language) == ("speakers", (ONE,), "de")


def test_what_is_computed_is_said_in_german(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text(TALK, name="ufer")
        answers = [
            corpus.ask(question)
            for question in (
                "Welche Dokumente gibt es?",
                "Wer war bei ufer dabei?",
                "In welchen Protokollen wird die Reuse erwähnt?",
                "Wird hier ein Hubschrauber erwähnt?",
                "Wie oft wird ein Hubschrauber erwähnt?",
            )
        ]
    listed, people, nets, _, nowhere = (answer.text for answer in answers)
    assert [answer.kind for answer in answers].index("question") == 3
    for answer in answers:
        own = [each.marker for each in marker_spans(answer.text, answer.mode)]
        shown = [piece for line in paragraphs(answer.text, answer.mode, answer) for piece in line]
        assert own == [each.marker for each in answer.citations]
        assert own == [int(piece.text) for piece in shown if piece.kind == "marker"]
    assert len(answers[1].citations) == 2  # below a line that quotes nothing
    assert listed.startswith("1 Dokument:\nufer (text, ") and listed.endswith(" Wörter)")
    assert people.startswith("2 Personen sprechen in ufer; wer schweigt, zeigt")
    assert "Anna, " in people and " der Wörter in 2 Wortmeldungen, zuerst: " in people
    assert nets.startswith("„Reuse“ wird 2 Mal in 1 von 1 Protokoll erwähnt:\nufer, 2 Mal, zuerst")
    assert nowhere.startswith("„Hubschrauber“ wird dort nicht erwähnt.")
