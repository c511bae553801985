"""The words that answer: within a citation, and only where they are likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from generator.answer import Citation
from generator.evidence import Embed, Sentence, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.quotes.quote_length import QuoteLength
from generator.extractive.quotes.selector import build_citation, format_quote, select_quotes
from generator.extractive.short_answer import candidates, is_in_another_unit, short_answer
from generator.reader.reading import Reader, Reading, Words
from tests.generator.conftest import span, transcript

MEETING = transcript(
    [
        ("Ada Park", "The budget of the field trial was cut to 12,500 euros in March."),
        ("Ben", "The ferry sails at a quarter to nine from the north pier."),
    ]
)


@cache
def reader() -> Reader:
    return Reader()


def features(question: str, embed: Embed) -> SentenceFeatures:
    return with_reading(question, evidence_sentences([span(MEETING)]), embed)


def with_reading(question: str, sentences: Sequence[Sentence], embed: Embed) -> SentenceFeatures:
    found = SentenceFeatures.of(question, sentences, WordVectors(embed))
    return replace(found, reading=reader().read(question, sentences))


def citations(found: SentenceFeatures) -> list[Citation]:
    quotes = enumerate(select_quotes(found, length=QuoteLength()), start=1)
    return [build_citation(each, marker, format_quote(each, marker)) for marker, each in quotes]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("To how much was the budget of the field trial cut?", "12,500 euros"),
        ("When does the ferry sail?", "a quarter to nine"),
    ],
)
def test_words_stand_in_their_citation(question: str, words: str, embed: Embed) -> None:
    found = features(question, embed)
    cited = citations(found)
    short = short_answer(found, cited)
    assert short is not None
    assert words in short.text
    assert MEETING.text[short.start : short.end] == short.text
    citation = cited[short.marker - 1]
    assert citation.start <= short.start < short.end <= citation.end
    assert 0 < short.probability <= 1


def test_words_outside_of_all_citations_do_not_stand_out(embed: Embed) -> None:
    found = features("When does the ferry sail?", embed)
    assert short_answer(found, []) is None


def test_unlikely_words_do_not_stand_out(embed: Embed) -> None:
    found = features("Which vaccine did the hospital of Zanzibar order?", embed)
    assert short_answer(found, citations(found)) is None


def test_without_a_reader_there_are_none(embed: Embed) -> None:
    found = SentenceFeatures.of("When?", evidence_sentences([span(MEETING)]), WordVectors(embed))
    assert candidates(found) == []
    assert short_answer(found, []) is None


def test_a_number_in_another_unit_does_not_stand_out(embed: Embed) -> None:
    speech = transcript(
        [("Ada", "Models are trained on audio of 30 seconds and take no longer audio at once.")]
    )
    for unit in ("seconds", "hours"):
        question = f"How many {unit} of audio were models trained on?"
        sentences = evidence_sentences([span(speech)])
        read = with_reading(question, sentences, embed)
        short = short_answer(read, citations(read))
        assert (short is not None and "30" in short.text) == (unit == "seconds")


@pytest.mark.parametrize(
    ("said", "found", "answer"),
    [
        ("We met at {disfmarker} once.", "disfmarker", None),
        ("At {gap} the pier {vocalsound} .", "{gap} the pier {vocal", "the pier"),
        ("We met at the {gap} pier.", "the {gap} pier", "the {gap} pier"),
    ],
)
def test_an_annotation_is_no_part_of_what_stands_out(
    said: str, found: str, answer: str | None, embed: Embed
) -> None:
    document = transcript([("Ben", said)])
    place = document.text.index(found)
    sentences, one = evidence_sentences([span(document)]), np.zeros(1, np.float32)
    features = SentenceFeatures.of("Where did they meet?", sentences, WordVectors(embed))
    words = Words(place, place + len(found), 5.0)
    read = replace(features, reading=Reading(one, (words,), one))
    best = [document.text[each.start : each.end] for each in candidates(read)]
    assert best == ([answer] if answer else [])


@pytest.mark.parametrize(
    ("question", "words", "text", "expected"),
    [
        ("How many hours of audio was it?", "30", "on 30-second chunks", True),
        ("How many hours of audio was it?", "30-second", "on 30-second chunks", True),
        ("How many hours of audio was it?", "680,000", "on 680,000 hours of audio", False),
        ("How many working hours was it?", "3", "it took 3 days", True),
        ("How many hours was it?", "3", "it took 3, in 5 minutes each", False),
        ("How many people came?", "3", "for 3 days", False),
        ("How long did it take?", "3", "for 3 days", False),
        ("Wie viele Stunden dauerte es?", "30", "nur 30 Minuten lang", True),
        ("Wie viel Prozent waren es?", "30 %", "es waren 30 % davon", False),
        ("How many meters is it?", "5 km", "5 km away", True),
    ],
)
def test_units(question: str, words: str, text: str, expected: bool) -> None:
    at = text.index(words)
    assert is_in_another_unit(question, text, at, at + len(words)) == expected
