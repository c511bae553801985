"""What is read as a standing question, in English and German, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from rag_app.corpus.corpus import Corpus
from rag_app.requests.standing import subject_of, target_of

BUDGET = "Tell me when the budget comes up"


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        (BUDGET, "budget"),
        ("Please let me know as soon as the field trial is mentioned again.", "field trial"),
        ("Could you let us know whenever e-paper comes up, please.", "e-paper"),
        ("notify us when somebody talks about e-paper", "e-paper"),
        ("the budget", "budget"),
        ("Sag mir, wenn das Budget zur Sprache kommt", "Budget"),
        ("Sagen Sie mir bitte Bescheid, sobald das Budget zur Sprache kommt.", "Budget"),
        ("Melde mir bitte, sobald die Kosten erwähnt werden.", "Kosten"),
        ("Geben Sie uns Bescheid, wenn jemand über den Feldversuch spricht", "Feldversuch"),
        ("Benachrichtige mich, wenn die Kosten besprochen werden", "Kosten"),
        ("Who leads the field trial?", ""),
        ("when is the launch", ""),
        ("Tell me who leads the field trial", ""),
        ("we will have to leave the house before the sun is up", ""),
    ],
)
def test_a_subject_is_told_from_a_question(question: str, subject: str) -> None:
    assert subject_of(question) == subject
    target = target_of(question)
    assert (target.phrase if target else "") == ("" if question == "the budget" else subject)


@pytest.mark.parametrize(
    "question",
    [
        "Tell me when the launch is",
        "Tell me when the budget was discussed",
        "When does the budget come up?",
        "Sag mir, wann das Budget besprochen wurde",
        "Was kommt zur Sprache, wenn das Budget erwähnt wird?",
    ],
)
def test_what_asks_of_what_is_there_is_none(question: str) -> None:
    assert target_of(question) is None


def test_one_answer_says_where_it_can_stand(encoder: Encoder, tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text("The buget is four hundred. So is the mast.", name="note")
        answer = corpus.ask("Tell me when Bugdet comes up")  # is no misspelled word of the note
        assert (answer.kind, answer.abstained, answer.citations) == ("standing", False, ())
        assert "rag-app watch FOLDER --tell Bugdet, or" in answer.text
        assert answer.read_as == "a request to be told when “Bugdet” comes up"
        owned = corpus.ask("Tell me when Mira's mast comes up").text
        assert "--tell 'Mira'\"'\"'s mast'" in owned
        assert 'corpus.standing("Mira\'s mast")' in owned
        german = corpus.ask("Sag mir, wenn der Mast zur Sprache kommt")
        assert german.text.startswith("Eine Antwort meldet später nichts.")
        assert corpus.ask(BUDGET, read_as="question").kind == "question"
