"""What of the evidence goes into a small prompt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generator.evidence import Embed, Evidence, Span, evidence_sentences
from generator.extractive.evidence_order import FEW, best_stretches
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.ranking import Ranking, sentence_scores
from indexing.documents import Occasion
from tests.generator.conftest import prose, span, transcript

REPORT = prose(
    "The ferry sails at nine. Its captain is Joan Reyes. It has a bar. The bar opens at ten. "
    "Sheep graze on the hills of the island. Their wool is sold in the town."
)
MEETING = transcript([("Anna", "The budget was cut in May. Two sponsors left."), ("Ben", "Yes.")])
WHOLE = (span(REPORT), span(MEETING))


def features_of(embed: Embed, question: str, evidence: Evidence) -> SentenceFeatures:
    return SentenceFeatures.of(question, evidence_sentences(evidence.passages), WordVectors(embed))


def test_the_best_sentence_comes_first_with_its_neighbours(embed: Embed) -> None:
    evidence = Evidence(WHOLE, WHOLE)
    features = features_of(embed, "Who is the captain of the ferry?", evidence)
    first, *others = best_stretches(evidence, features, tokens=FEW - 1).passages
    best = features.sentences[int(np.argmax(sentence_scores(features)))]
    assert first.start <= best.start and best.end <= first.end
    assert first.text.count(".") <= 4 and "Joan Reyes" in first.text
    covered = [one for one in features.sentences if _within(one, [first, *others])]
    finite = np.isfinite(sentence_scores(features))
    assert len(covered) >= finite.sum()
    assert [one.score for one in (first, *others)] == sorted(
        (one.score for one in (first, *others)), reverse=True
    )


def test_a_label_is_read_with_what_is_said(embed: Embed) -> None:
    evidence = Evidence((span(MEETING),), WHOLE)
    features = features_of(embed, "Why was the budget cut?", evidence)
    (only,) = best_stretches(evidence, features, tokens=400).passages
    assert only.text.startswith("Anna: The budget was cut in May. Two sponsors left.")


def test_of_one_person_nobody_else_is_read(embed: Embed) -> None:
    evidence = Evidence((span(MEETING),), WHOLE, "Anna")
    said = Evidence(evidence.best(), WHOLE)
    features = features_of(embed, "Why was the budget cut?", said)
    spans = best_stretches(evidence, features, tokens=400).passages
    assert all("Ben" not in one.text and "Yes" not in one.text for one in spans)


def test_a_long_prompt_gets_the_passages(embed: Embed) -> None:
    evidence = Evidence(WHOLE, WHOLE)
    features = features_of(embed, "Why?", evidence)
    assert best_stretches(evidence, features, tokens=FEW) == evidence


def test_what_a_later_document_has_replaced_is_left_out(embed: Embed) -> None:
    question = "When is the launch of Heron?"
    days = {"2025-03-03": "is on 30 March", "2025-05-05": "has moved to 11 May"}
    documents = [
        replace(
            prose(f"We talked of tea. The launch of Heron {when}. It was cold.", name=day),
            occasion=Occasion(day, "first lines", (), ""),
        )
        for day, when in days.items()
    ]
    evidence = Evidence(tuple(map(span, documents)), ())
    features = features_of(embed, question, evidence)
    ranking = Ranking.of(features)
    old = [i for i, one in enumerate(features.sentences) if "30 March" in one.text]
    assert ranking.replaced == frozenset(old)
    text = " ".join(one.text for one in best_stretches(evidence, features, tokens=400).passages)
    assert "11 May" in text and "30 March" not in text and text.count("We talked of tea.") == 2
    once = features_of(embed, "When was the launch of Heron in March?", evidence)
    assert "30 March" in str(
        [one.text for one in best_stretches(evidence, once, tokens=400).passages]
    )


def _within(sentence: object, spans: list[Span]) -> bool:
    return any(
        one.document == sentence.document  # type: ignore[attr-defined]
        and one.start <= sentence.start < one.end  # type: ignore[attr-defined]
        for one in spans
    )
