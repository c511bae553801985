"""Follow-up questions over the sample documents: the evidence is found because of the history."""

from __future__ import annotations

import pytest

from generator.prompt.follow_up import Turn
from generator.request import EVIDENCE_DOCUMENTS
from generator.settings import EVIDENCE_PASSAGES
from rag_app.corpus.corpus import Corpus

CONVERSATIONS = [
    ("Why was the budget cut?", "And by how much?", "three hundred and fifty thousand"),
    ("Why was the launch first put back?", "And why was it moved again?", "sixteenth of March"),
    ("When does the Quayside test begin?", "How deep is it?", "one metre for thirty minutes"),
    ("Does the meter talk to a phone?", "Who wanted that?", "Bluetooth"),
]


@pytest.mark.parametrize(("first", "then", "wanted"), CONVERSATIONS)
def test_the_evidence_of_follow_ups_is_found(
    samples_corpus: Corpus, first: str, then: str, wanted: str
) -> None:
    asked = samples_corpus.ask(first)
    answer = samples_corpus.ask(then, history=[Turn(asked.question, asked.text)])
    alone = samples_corpus.ask(then)
    assert answer.question == then
    assert answer.query.startswith(f"{then} (")
    assert alone.query == then
    assert wanted in _evidence(samples_corpus, answer.query)


def _evidence(corpus: Corpus, query: str) -> str:
    """What an answer to a query may quote."""
    hits = corpus.search(query, k=EVIDENCE_DOCUMENTS, passages=EVIDENCE_PASSAGES)
    return " ".join(passage.text for hit in hits for passage in hit.passages)


def test_a_new_subject_is_not_mixed_with_the_old_one(samples_corpus: Corpus) -> None:
    question = "How long did one crossing on the ferry take?"
    history = [Turn("Why was the budget cut?", "The board took it.")]
    answer = samples_corpus.ask(question, history=history)
    alone = samples_corpus.ask(question)
    assert (answer.text, answer.citations) == (alone.text, alone.citations)
