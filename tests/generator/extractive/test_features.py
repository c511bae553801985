"""A question beside its evidence: likeness of words against a loop, kinds of questions."""

from __future__ import annotations

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.question.answer_type import classify_question, has_answer_type
from indexing.text.terms import Rarity, content_stems, content_words, stem, topic_words
from tests.generator.conftest import prose, span

REPORT = prose("The budget was cut in May. Two sponsors left us. Okay. The lunch is cheap.")
QUESTION = "What did the team say about the money that was cut?"


def test_coverage_is_what_a_loop_over_words_gives(embed: Embed) -> None:
    sentences = evidence_sentences([span(REPORT)])
    features = SentenceFeatures.of(QUESTION, sentences, WordVectors(embed))
    topic = ["money", "cut"]
    assert topic_words(QUESTION) == topic
    rarity = Rarity([content_stems(sentence.text) for sentence in sentences])
    weights = [rarity.of(stem(word)) for word in topic]
    best = np.array([[_likeness(w, s.text, embed) for w in topic] for s in sentences])
    assert features.coverage == pytest.approx(best @ weights / sum(weights), abs=1e-4)
    near = [best[max(0, i - 1) : i + 2].max(axis=0) for i in range(len(sentences))]
    expected = np.array(near) @ weights / sum(weights)
    assert features.neighbourhood_coverage == pytest.approx(expected, abs=1e-4)
    assert features.coverage[2] == 0  # "Okay." has no word that means anything
    assert best[0, 1] == 1
    assert 0 < best[0, 0] < 1  # "budget" is like "money"


def _likeness(word: str, text: str, embed: Embed) -> float:
    """The best word of a text for one word of the question."""
    best = 0.0
    for other in content_words(text):
        one, two = embed([word, other])
        like = 1.0 if stem(word) == stem(other) else (float(one @ two) - 0.4) / 0.6
        best = max(best, like)
    return best


def test_a_question_without_words_or_evidence_is_read(embed: Embed) -> None:
    sentences = evidence_sentences([span(REPORT)])
    assert not SentenceFeatures.of("?", sentences, WordVectors(embed)).coverage.any()
    assert SentenceFeatures.of("Who left?", [], WordVectors(embed)).coverage.shape == (0,)


@pytest.mark.parametrize(
    ("question", "kind", "answer", "no_answer"),
    [
        ("Why was it cut?", "reason", "Because they left.", "They left."),
        ("For what reason did he go?", "reason", "He was owing rent.", "He is gone."),
        ("When does it open?", "time", "On the sixteenth of March.", "It may open."),
        ("At what time was it stopped?", "time", "We stopped at 07:51.", "We stopped it."),
        ("How much does it cost?", "quantity", "Ninety-two pounds.", "A lot of money."),
        ("Who asked for it?", "person", "I did.", "It was asked for."),
        ("What colour is it?", None, "", ""),
    ],
)
def test_what_is_asked(question: str, kind: str | None, answer: str, no_answer: str) -> None:
    answer_type = classify_question(question)
    assert answer_type == kind
    if answer_type:
        assert has_answer_type(answer_type, answer)
        assert not has_answer_type(answer_type, no_answer)
