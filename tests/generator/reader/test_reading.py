"""What the shipped reader says of sentences it was never trained on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from generator.evidence import Sentence, evidence_sentences
from generator.reader.reading import Reader, Reading, reader_graph
from indexing.documents import Document
from tests.generator.conftest import prose, span, transcript

MEETING = transcript(
    [
        ("Ada Park", "Good morning. The budget for the field trial is 12,500 euros."),
        ("Ben", "And the ferry sails at a quarter to nine from the north pier."),
        ("Ada Park", "Lunch is in the small hall."),
    ]
)


@cache
def reader() -> Reader:
    return Reader(dtype=torch.float32)


def read(question: str, document: Document = MEETING) -> tuple[list[Sentence], Reading]:
    sentences = evidence_sentences([span(document)])
    return sentences, reader().read(question, sentences)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How much is the budget for the field trial?", "12,500 euros"),
        ("When does the ferry sail?", "a quarter to nine"),
        ("Where does the ferry sail from?", "north pier"),
    ],
)
def test_the_words_that_answer_are_found_in_their_sentence(question: str, words: str) -> None:
    sentences, reading = read(question)
    best = int(reading.spans.argmax())
    found = reading.words[best]
    assert found is not None
    assert words in MEETING.text[found.start : found.end]
    assert words in sentences[best].text
    assert int(reading.relevance.argmax()) == best


def test_words_lie_within_their_sentence() -> None:
    sentences, reading = read("Who said what to whom, and why?")
    for sentence, found in zip(sentences, reading.words, strict=True):
        assert found is not None
        assert sentence.start <= found.start < found.end <= sentence.end


def test_company_and_order_do_not_matter() -> None:
    sentences, together = read("When does the ferry sail?")
    backwards = reader().read("When does the ferry sail?", sentences[::-1])
    np.testing.assert_allclose(backwards.relevance[::-1], together.relevance, atol=1e-3)
    other = prose("The mill burned down in one night. " * 30, name="mill")
    more = [*evidence_sentences([span(other)]), *sentences]
    beside = reader().read("When does the ferry sail?", more)
    np.testing.assert_allclose(beside.relevance[-len(sentences) :], together.relevance, atol=1e-3)
    np.testing.assert_allclose(beside.spans[-len(sentences) :], together.spans, atol=2e-3)


def test_a_stretch_that_answers_is_told_from_one_that_does_not() -> None:
    _, about = read("How much is the budget for the field trial?")
    _, other = read("Which vaccine did the hospital of Zanzibar order?")
    assert about.answerable.max() > other.answerable.max()
    assert about.spans.max() > other.spans.max()


def test_nothing_is_read_of_nothing() -> None:
    reading = reader().read("When?", [])
    assert (len(reading.relevance), reading.words, len(reading.spans)) == (0, (), 0)


@pytest.mark.parametrize("text", ["\u202e\u0000\x1b[31m words.", "\u200b", "\U0001f600 " * 900])
def test_odd_texts_are_read(text: str) -> None:
    sentences, reading = read("When?", prose(text, name="odd"))
    assert len(reading.words) == len(sentences)
    assert np.isfinite(reading.spans).all()


def test_readers_of_the_same_weights_share_what_they_have_loaded() -> None:
    one, other, exact = Reader(), Reader(), Reader(dtype=torch.float32)
    assert one._loaded is other._loaded
    assert exact._loaded is not one._loaded


def test_bfloat16_says_the_same_to_rounding() -> None:
    sentences, exact = read("When does the ferry sail?")
    rounded = Reader(dtype=torch.bfloat16).read("When does the ferry sail?", sentences)
    assert int(rounded.spans.argmax()) == int(exact.spans.argmax())
    np.testing.assert_allclose(rounded.relevance, exact.relevance, atol=0.5)


def test_the_graph_says_what_the_model_says() -> None:
    assert reader_graph() is not None
    other = prose("The mill burned down in one night. " * 60, name="mill")
    sentences = evidence_sentences([span(MEETING), span(other)])
    exact = reader().read("When does the ferry sail?", sentences)
    quick = Reader(quick_start=True).read("When does the ferry sail?", sentences)
    np.testing.assert_allclose(quick.relevance, exact.relevance, atol=1e-3)
    np.testing.assert_allclose(quick.answerable, exact.answerable, atol=1e-3)
    np.testing.assert_allclose(quick.spans, exact.spans, atol=2e-3)
    places = [(each.start, each.end) if each else None for each in quick.words]
    assert places == [(each.start, each.end) if each else None for each in exact.words]
