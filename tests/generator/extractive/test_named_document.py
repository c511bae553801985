"""A document that a question names by its title comes before others that say the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.named_document import titles_named
from generator.extractive.ranking import answer_scores
from tests.generator.conftest import prose, span

TITLES = ("lease_elm-street-2024", "lease_oak-road-2024", "house rules")
TEXT = "The deposit is two months of rent. It is paid back within a month."


def features(question: str, embed: Embed) -> SentenceFeatures:
    documents = [replace(prose(TEXT), id=title, title=title) for title in TITLES]
    sentences = evidence_sentences([span(document) for document in documents])
    return SentenceFeatures.of(question, sentences, WordVectors(embed))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is the deposit for Elm Street?", (2, 0, 0)),
        ("How high is the deposit in Oak Road?", (0, 2, 0)),
        ("What do the house rules say of a deposit?", (0, 0, 0)),  # no name
        ("What does the lease of 2024 say of a deposit?", (0, 0, 0)),  # most titles have these
        ("How high is the deposit?", (0, 0, 0)),
    ],
)
def test_names_in_one_title_count(question: str, named: tuple[int, ...], embed: Embed) -> None:
    found = titles_named(features(question, embed))
    assert found.tolist() == [words for words in named for _ in range(2)]


@pytest.mark.parametrize(("place", "first"), [("Elm Street", 0), ("Oak Road", 2)])
def test_the_named_one_leads(place: str, first: int, embed: Embed) -> None:
    found = features(f"What is the deposit for {place}?", embed)
    assert int(np.argmax(answer_scores(found))) == first
