"""A question for the meaning of a term is answered by its definition."""

from __future__ import annotations

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.definitions import defines
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.ranking import answer_scores
from tests.generator.conftest import prose, span

TEXT = (
    "A Covered Vessel has a covered vessel's duties. "
    'A "covered vessel" means any boat below ten metres. '
    "Boats in the yard are called idle boats. "
    "The harbour office (the “Office”) opens at nine. "
    "VHF stands for very high frequency."
)


@pytest.mark.parametrize(
    ("question", "definition"),
    [
        ("What is a covered vessel?", 1),
        ('What does "covered vessel" mean?', 1),
        ("what is meant by covered vessel", 1),
        ("Define covered vessel.", 1),
        ("define covered vessel", 1),
        ("What are idle boats?", 2),
        ("What is the Office?", 3),
        ("What does VHF stand for?", 4),
        ("What is the duty of a covered vessel?", None),
        ("Who runs the Office?", None),
    ],
)
def test_what_defines_a_term(question: str, definition: int | None, embed: Embed) -> None:
    sentences = evidence_sentences([span(prose(TEXT))])
    found = defines(SentenceFeatures.of(question, sentences, WordVectors(embed)))
    assert np.flatnonzero(found).tolist() == ([] if definition is None else [definition])


def test_the_definition_leads(embed: Embed) -> None:
    sentences = evidence_sentences([span(prose(TEXT))])
    found = SentenceFeatures.of("What is a covered vessel?", sentences, WordVectors(embed))
    assert int(np.argmax(answer_scores(found))) == 1
