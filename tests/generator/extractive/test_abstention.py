"""The probability that the documents answer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import exp, log

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.abstention import answer_features, answer_probability, relatedness
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.fitted import FITTED
from generator.extractive.ranking import sentence_scores
from generator.reader.reading import Reader
from tests.generator.conftest import span, transcript

MEETING = transcript(
    [
        ("Ada Park", "The budget of the field trial was cut to 12,500 euros in March."),
        ("Ben", "The ferry sails at a quarter to nine."),
    ]
)


@cache
def reader() -> Reader:
    return Reader()


def features(question: str, embed: Embed, *, read: bool = True) -> SentenceFeatures:
    found = SentenceFeatures.of(question, evidence_sentences([span(MEETING)]), WordVectors(embed))
    if not read:
        return found
    return replace(found, reading=reader().read(question, found.sentences))


@pytest.mark.parametrize("read", [True, False])
def test_what_is_said_is_likelier_than_what_is_not(embed: Embed, *, read: bool) -> None:
    near = answer_probability(features("To what was the budget cut?", embed, read=read))
    far = answer_probability(features("Which vaccine did Zanzibar order?", embed, read=read))
    assert 0 < far < FITTED.abstain_below < near < 1


def test_of_no_evidence_it_is_nothing(embed: Embed) -> None:
    assert answer_probability(SentenceFeatures.of("?", [], WordVectors(embed))) == 0


def test_it_is_a_logistic_function_of_its_features(embed: Embed) -> None:
    found = features("When does the ferry sail?", embed)
    values = answer_features(found)
    assert found.reading is not None
    best, *others = sorted(sentence_scores(found, FITTED.sentence), reverse=True)
    beside = 80 * sum(exp((one - best) / 2) for one in others) / len(others)
    assert values["scores"] == pytest.approx(best + 2 * log(1 + beside), rel=1e-4)
    assert values["answerable"] in found.reading.answerable
    total = FITTED.answerable["bias"] + sum(FITTED.answerable[k] * v for k, v in values.items())
    logistic = 1 / (1 + 2.718281828459045**-total)
    assert answer_probability(found) == pytest.approx(relatedness(found) * logistic)
    assert set(FITTED.answerable) == {"bias", *values}


def test_of_a_larger_reader_the_greatest_that_is_said_of_a_stretch_counts(embed: Embed) -> None:
    found = features("When does the ferry sail?", embed)
    assert found.reading is not None
    before = answer_features(found)
    said = np.linspace(-3, 2, len(found.sentences), dtype=np.float32)
    doubt = replace(found.reading, answerable=said, relevance=found.reading.relevance - 9)
    larger = replace(found, reading=replace(doubt, before=found.reading))
    values = answer_features(larger)
    assert values == before | {"answerable": 2.0}
    weights = FITTED.answerable_again
    total = weights["bias"] + sum(weights[name] * value for name, value in values.items())
    likely = relatedness(found) / (1 + np.exp(-total))
    np.testing.assert_allclose(answer_probability(larger), likely, rtol=1e-6)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("When does the ferry of Ben sail in March?", 0),
        ("When does the ferry of Zanzibar sail in March?", 0),  # a name may be misspelled
        ("When does the ferry sail in November 1911?", 2),
        ("Which ferry sails at 9 and costs 4711 euros?", 1),  # "nine" stands there
        ("May we sail?", 0),
    ],
)
def test_months_and_numbers_that_no_document_has_are_counted(
    question: str, missing: int, embed: Embed
) -> None:
    assert answer_features(features(question, embed))["dates missing"] == missing


def test_nothing_is_likely_where_no_sentence_fits(embed: Embed) -> None:
    assert relatedness(features("When does the ferry sail?", embed, read=False)) > 0.9
    assert relatedness(features("Why is grass green?", embed, read=False)) < 0.1


def test_what_the_named_speaker_says_is_related(embed: Embed) -> None:
    said = relatedness(features("What did Ada Park think about euros?", embed, read=False))
    other = relatedness(features("What did Zoe Hill think about euros?", embed, read=False))
    assert said > 0.9 and other < 0.1
