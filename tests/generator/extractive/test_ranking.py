"""The score of a sentence: a weighted sum, checked feature by feature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.fitted import FITTED
from generator.extractive.ranking import (
    FEATURES,
    WEIGHTS_UNREAD,
    answer_scores,
    enumerates,
    probabilities,
    sentence_scores,
)
from generator.reader.reading import Reading, Words
from tests.generator.conftest import prose, span, transcript

MEETING = transcript(
    [
        ("Ada", "How much may the remote cost?"),
        ("Ben", "Twenty five euros, because rubber is dear."),
        ("Ben", "Hmm."),
        ("Ada", "The weather is nice on Monday."),
    ]
)


def features(question: str, embed: Embed) -> SentenceFeatures:
    sentences = evidence_sentences([span(MEETING)])
    return SentenceFeatures.of(question, sentences, WordVectors(embed))


def reading(count: int) -> Reading:
    logits = np.linspace(-30, 30, count, dtype=np.float32)
    words = tuple(Words(0, 1, float(each)) for each in logits)
    return Reading(logits, words, logits[::-1].copy())


def test_scores_are_the_weighted_sum_of_the_features(embed: Embed) -> None:
    found = features("How much does the remote cost?", embed)
    found = replace(found, reading=reading(4), contextual=np.array([0, -1, -2, -3], np.float32))
    scores = sentence_scores(found)
    for i in (0, 1, 3):
        by_hand = sum(weight * FEATURES[name](found)[i] for name, weight in FITTED.sentence.items())
        lacks = 0.0 if i == 1 else 2.0  # only one sentence has a sum of money
        assert scores[i] == pytest.approx(by_hand - lacks, abs=1e-4)
    assert scores[2] == -np.inf  # "Hmm." has no content


def test_a_reader_of_another_language_ranks_nothing(embed: Embed) -> None:
    said = transcript(
        [
            ("Ada", "Und was darf die Fernbedienung kosten, wenn sie nicht aus Gummi ist?"),
            ("Ben", "Ich sage, dass es 25 Euro sind, und das ist schon viel."),
        ]
    )
    found = SentenceFeatures.of(
        "Wie viel darf die Fernbedienung kosten?",
        evidence_sentences([span(said)]),
        WordVectors(embed),
    )
    english = replace(reading(2), language="en")
    assert found.language == "de"
    unread = sentence_scores(found)
    np.testing.assert_array_equal(sentence_scores(replace(found, reading=english)), unread)
    of_any = sentence_scores(replace(found, reading=reading(2)))
    assert not np.allclose(of_any, unread)


def test_without_a_reader_its_features_are_not_asked_for(embed: Embed) -> None:
    found = features("Why is the remote dear?", embed)
    scores = sentence_scores(found)
    parts = [weight * FEATURES[name](found) for name, weight in WEIGHTS_UNREAD.items()]
    by_hand = np.sum(parts, axis=0)
    np.testing.assert_allclose(scores[[0, 1, 3]], by_hand[[0, 1, 3]], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("question", "What?", [1, 0, 0, 0]),
        ("reason", "Why is it dear?", [0, 1, 0, 0]),
        ("quantity", "How much is it?", [0, 1, 0, 0]),
        ("time", "When is the weather nice?", [0, 0, 0, 1]),
        ("time", "Who says so?", [0, 0, 0, 0]),
        ("speaker named", "What did Ben say?", [0, 1, 1, 0]),
        ("passage", "What?", [0, 0, 0, 0]),
    ],
)
def test_features(name: str, question: str, expected: list[float], embed: Embed) -> None:
    assert FEATURES[name](features(question, embed)).tolist() == expected


def test_what_the_reader_says_is_bounded(embed: Embed) -> None:
    found = replace(features("What?", embed), reading=reading(4))
    for name in ("relevance", "words"):
        values = FEATURES[name](found)
        assert np.abs(values).max() <= 20


def test_of_no_sentence_there_is_no_score(embed: Embed) -> None:
    none = SentenceFeatures.of("What?", [], WordVectors(embed))
    assert sentence_scores(none).shape == (0,)


def test_fitted_weights_have_features() -> None:
    assert set(FITTED.sentence) <= set(FEATURES)
    assert 0 < FITTED.abstain_below < 1
    assert 0 < FITTED.enough <= 1


def test_probabilities_are_a_softmax_and_nothing_without_content() -> None:
    found = probabilities(np.array([0.0, np.log(3.0), -np.inf], np.float32))
    np.testing.assert_allclose(found, [0.25, 0.75, 0.0], atol=1e-6)


TEXT = (
    "The drug cabinet is next to the fridge. Nothing else goes into the drug cabinet.\n\n"
    "Methadone, fentanyl, pethidine, ketamine, pentobarbital.\n\n"
    "In it: Donald John, Ruaridh, Ottilie. The boat goes nowhere."
)
LISTS = [False, False, True, True, False]


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which drugs are kept in the cabinet?", True),
        ("who goes in the boat", True),
        ("From which places can he take off?", True),
        ("What are you not allowed to do?", True),
        ("Welche Hunde sind erlaubt?", True),
        ("Which five savings were on the list?", True),
        ("What is the boat for?", False),
        ("Which bus is late?", False),
        ("What does this cost?", False),
        ("Who leads the club?", False),
        ("Was ist das?", False),
    ],
)
def test_lists_count_where_several_things_are_asked_for(
    question: str, several: bool, embed: Embed
) -> None:
    sentences = evidence_sentences([span(prose(TEXT))])
    features = SentenceFeatures.of(question, sentences, WordVectors(embed))
    assert enumerates(features).astype(bool).tolist() == [several and one for one in LISTS]


def test_the_list_leads(embed: Embed) -> None:
    sentences = evidence_sentences([span(prose(TEXT))])
    question = "Who goes in the boat?"
    features = SentenceFeatures.of(question, sentences, WordVectors(embed))
    assert int(np.argmax(answer_scores(features))) == 3


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much did the boiler cost?", "It was £1,240 in the end."),
        ("What time does the boiler man come?", "He comes at 8.30."),
        ("What is the serial number of the boiler?", "It says KW-4711 on it."),
    ],
)
def test_what_has_no_such_value_is_worth_less(question: str, answer: str, embed: Embed) -> None:
    text = f"{question.removesuffix('?')} is what we all asked. {answer}"
    features = SentenceFeatures.of(
        question, evidence_sentences([span(prose(text))]), WordVectors(embed)
    )
    first, second = answer_scores(features)
    assert second > first
