"""Questions for several things are answered by sentences that list them."""

from __future__ import annotations

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.ranking import answer_scores, enumerates
from tests.generator.conftest import prose, span

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
        ("What is in the boat?", False),
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
