"""Misspelled words are read as words of the documents that may be read, and right ones stay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generator.answer import Answer
from indexing.encoder.encoder import Encoder
from indexing.filter import OWNER, Filter
from rag_app.corpus.corpus import Corpus
from retriever.spelling import Spelling

FAIR = (
    "The profit of the summer fair is 2,068 pounds. The nurse from lark field came at ten.\n"
    "A disclosure certificate may be three years old. The letters on the house are 40 cm high.\n"
    "The oven is of steel. The management has an analyser.\n"
    "One phone is in the office.\n"
)
SECRET = "The takeover of Brackenholme is planned for the ninth of May.\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("spelling"), encoder=encoder) as corpus:
        corpus.add_text(FAIR, name="fair")
        corpus.add_text(SECRET, name="secret", collection="board")
        yield corpus


def corrected(corpus: Corpus, question: str, where: Filter | None = None) -> str:
    with corpus._stores.reading() as store:
        limited = store.limited(where, OWNER)
        text, changes = Spelling(limited, corpus._indexes.snapshot(store)).corrected(question)
        assert all(one.written in question and one.read in text for one in changes)
        return text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("waht was teh proffit of the sumer fiar", "what was the profit of the summer fair"),
        ("how old may the disclosre certifcate be", "how old may the disclosure certificate be"),
        ("When did the Larkfield nurse come?", "When did the lark field nurse come?"),
        ("Who has the analizer?", "Who has the analyser?"),
        ("How heavy is the ovn?", "How heavy is the oven?"),
        ("How high are the lettres?", "How high are the letters?"),
        ("Who was letering the house?", "Who was lettering the house?"),
        ("Who has the mannagement of the steal?", "Who has the management of the steal?"),
        ("Where is the fone?", "Where is the phone?"),
        ("Is the steil fiar dich?", "Is the steel fair dich?"),
        ("When is the tek over?", "When is the tek over?"),
        ("Who has the take over of Braken Holme?", "Who has the take over of Braken Holme?"),
        ("What is planned for Bracken Holme?", "What is planned for Brackenholme?"),
        ("What is planned for Prachenhollm?", "What is planned for Brackenholme?"),
        ("What is Prachenhollm's plan?", "What is Brackenholme's plan?"),
        ("What is planned for Prakenhorn?", "What is planned for Prakenhorn?"),
        ("What was the fiat of the fiar?", "What was the fiat of the fair?"),
        # What is right stays, though a word of the documents is near.
        ("How high is the letter on the mouse?", "How high is the letter on the mouse?"),
        ("Who profits from the fairs?", "Who profits from the fairs?"),
        ("What did Parker say of HOUSS?", "What did Parker say of HOUSS?"),
        ("What is in heron-3-fiar.srt and lettres@house.org?",) * 2,
        ("Wer war der Hausmeister?", "Wer war der Hausmeister?"),
        ("Was kostet die Fähre?", "Was kostet die Fähre?"),
    ],
)
def test_words_are_read_as_those_of_the_documents(corpus: Corpus, question: str, text: str) -> None:
    assert corrected(corpus, question) == text


def test_words_of_what_may_not_be_read_are_not_given_away(corpus: Corpus) -> None:
    question = "When is the takeover of Brackenhlome?"
    assert corrected(corpus, question).endswith("Brackenholme?")
    assert corrected(corpus, question, Filter(collections=("default",))) == question


def test_an_answer_says_what_was_read(corpus: Corpus) -> None:
    def ask(read_as: str) -> Answer:
        question = "What was the proffit of the sumer fair?"
        return corpus.ask(question, mode="quote", read_as=read_as)  # type: ignore[arg-type]

    answer = ask("auto")
    assert answer.question == "What was the proffit of the sumer fair?"
    assert "“proffit” read as “profit”" in answer.read_as
    assert "2,068" in answer.citations[0].quote
    assert ask("question").read_as == ""
