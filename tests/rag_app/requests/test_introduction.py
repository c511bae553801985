"""Greetings, questions about the program, and what it cannot do: answered by what it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.answer import NOT_SAID
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from indexing.filter import Filter
from rag_app.corpus.corpus import Corpus
from rag_app.requests.naming.catalogue import Catalogue
from rag_app.requests.router import route
from tests.rag_app.requests.test_router import CATALOGUE, HANDBOOK, ONE, TWO, entry

TALK = "Anna: Wir brauchen fünf Reusen.\nBernd: Einverstanden, und das vor dem Sommer.\n"
SAID = [
    ("hello", "a greeting", "en"),
    ("Hello!", "a greeting", "en"),
    ("Good morning", "a greeting", "en"),
    ("Thanks", "thanks", "en"),
    ("Thank you very much!", "thanks", "en"),
    ("What can you do?", "a question about what the program can do", "en"),
    ("Can you help me?", "a question about what the program can do", "en"),
    ("help", "a question about what the program can do", "en"),
    ("Who are you?", "a question about what the program is", "en"),
    ("Are you a robot?", "a question about what the program is", "en"),
    ("Hallo!", "a greeting", "de"),
    ("Guten Morgen", "a greeting", "de"),
    ("Danke", "thanks", "de"),
    ("Vielen Dank!", "thanks", "de"),
    ("Was kannst du?", "a question about what the program can do", "de"),
    ("Wer sind Sie?", "a question about what the program is", "de"),
]
TOO_MUCH = [
    ("Write a summary of all meetings", "en"),
    ("Summarize everything", "en"),
    ("Give me an overview of all the documents, please.", "en"),
    ("Fasse alle Sitzungen zusammen.", "de"),
    ("Schreibe eine Zusammenfassung aller Dokumente", "de"),
]
QUESTIONS = [
    "Hello Kitty was sold where?",
    "Who said hello to Callum?",
    "Who are you going to invite?",
    "What can you do about frost?",
    "How does it work?",
    "What is this for?",
    "Was kannst du über den Reiher sagen?",
    "Who was thanked?",
    "Who wrote a summary of all complaints?",
    "Summarize all complaints",
]


@pytest.mark.parametrize(("question", "read_as", "language"), SAID)
def test_what_is_said_to_the_program_is_read_so(question: str, read_as: str, language: str) -> None:
    target = route(AskRequest(question), CATALOGUE).target
    assert (target.kind, target.read_as) == ("introduction", read_as)
    assert target.language == language


@pytest.mark.parametrize(("question", "language"), TOO_MUCH)
def test_many_documents_are_too_many_to_sum_up(question: str, language: str) -> None:
    names = [f"meeting-{number}" for number in range(1, 5)]
    many = Catalogue([entry(f"{name}.vtt") for name in names], names)
    target = route(AskRequest(question), many).target
    assert (target.kind, target.phrase, target.language) == ("introduction", "several", language)


def test_a_few_documents_are_summed_up() -> None:
    target = route(AskRequest("Summarize all meetings", where=Filter((ONE, TWO))), CATALOGUE).target
    assert (target.kind, target.documents) == ("summary", (ONE, TWO))
    one = route(AskRequest("Summarize all meetings", where=Filter((HANDBOOK,))), CATALOGUE).target
    assert (one.kind, one.phrase) == ("introduction", "nothing")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_normal_question_is_looked_up(question: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind == "question"


def test_a_language_model_writes_new_texts_where_it_is_asked_to() -> None:
    question = "Write an email to Ines about the budget"
    assert route(AskRequest(question), CATALOGUE).target.kind == "introduction"
    assert route(AskRequest(question, "free"), CATALOGUE).target.kind == "question"


def test_every_question_that_is_offered_is_answered_from_the_store(
    tmp_path: Path, encoder: Encoder
) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for number in range(1, 5):
            corpus.add_text(f"{TALK}Anna: Also {number}.\n", name=f"ufer-{number}")
        corpus.add_text("Der Steg ist aus Holz, und er wird im Mai gestrichen.", name="Steg")
        for question in (*(each for each, *_ in SAID), *(each for each, _ in TOO_MUCH)):
            answer = corpus.ask(question)
            assert (answer.kind, answer.abstained) == ("introduction", False), question
            assert NOT_SAID not in answer.text
            offered = [line[2:] for line in answer.text.split("\n") if line.startswith("- ")]
            assert offered or answer.read_as == "thanks"
            for each in set(offered):
                assert corpus.ask(each).kind not in {"question", "introduction"}, each
        english = corpus.ask("What can you do?").text
        assert "5 documents: ufer-1, ufer-2, ufer-3, ufer-4, Steg." in english
        german = corpus.ask("Fasse alle Protokolle zusammen").text
        assert german.startswith("Eine Übersicht umfasst höchstens 3 Dokumente")
        assert "4 Protokolle auf einmal" in german and "- Fasse ufer-4 zusammen" in german


def test_without_documents_it_says_so(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text("x y z", name="one")
        corpus.remove(["one"])
        assert "There are no documents yet" in corpus.ask("Hello").text
