"""The question in a long message is found, with what it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.prompt.follow_up import LONG, question_within
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from rag_app.corpus.corpus import Corpus

PREAMBLE = (
    "Good morning everybody, I hope that you are all well and that the move went as planned. "
    "I was away for most of the autumn and have not read all that was sent around since, for "
    "which I am sorry, and my colleague has left me a pile of papers that is as high as the desk. "
    "On Tuesday the people from the harbour office rang, who were rather cross with us. "
    "They talked about the blue ferry that Maren Holm painted. "
)


def test_a_short_question_is_itself() -> None:
    question = "We met in May. Who paid for it?"
    assert question_within(f" {question} ") == (question, ())


@pytest.mark.parametrize("thanks", ["", " Thank you very much for your help."])
def test_the_last_sentence_that_asks_is_the_question(thanks: str) -> None:
    message = f"{PREAMBLE}How much did the paint cost?{thanks}"
    assert len(message.split()) >= LONG
    question, words = question_within(message)
    assert question == AskRequest(message).asked == "How much did the paint cost?"
    assert {"ferry", "maren", "holm"} <= {word.lower() for word in words}
    assert AskRequest(message).query == f"{question} ({' '.join(words)})"


def test_a_message_that_asks_nothing_stays_whole() -> None:
    message = "The ferry is blue. " * 30
    assert question_within(message) == (message.strip(), ())
    long = "Why " + "and why " * 80 + "is it so?"
    assert question_within(f"{PREAMBLE}{long}") == (f"{PREAMBLE}{long}", ())


def test_a_long_preamble_loses_no_answer(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path, encoder=encoder) as corpus:
        corpus.add_text(
            "The paint for the blue ferry cost 310 euros. Maren Holm painted her in June. "
            "The harbour office wants the mooring to be free by noon on Fridays.",
            name="ferry",
        )
        answer = corpus.ask(PREAMBLE * 5 + "How much did the paint cost?", mode="quote")
    assert not answer.abstained
    assert "310 euros" in answer.citations[0].quote
