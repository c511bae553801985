"""Questions made from sentences ask for what these say, and stand by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from generator.overview.overview import overview
from indexing.files import document
from indexing.text.chunking import split
from rag_app.chat.welcome.candidates import Candidate, candidates


def made(text: str) -> list[Candidate]:
    source = document(text, name="minutes")
    passages = split(source)
    return candidates(source, overview(source, passages, np.zeros((len(passages), 4), np.float32)))


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("The Trust was founded in 1988 by anglers.", "When was the Trust founded?"),
        ("The report was edited by Rosalind Achebe.", "Who edited the report?"),
        ("The colony at Brayle had 27 nests.", "How many nests did the colony at Brayle have?"),
        ("Each backup takes 38 minutes.", "How long does each backup take?"),
        ("A pass would cost £310,000.", "How much does a pass cost?"),
        ('"Batch" means all Probes of one note.', 'What does "Batch" mean?'),
        ("You have 27 days of paid leave a year.", "How many days of paid leave do you have?"),
        (
            "Then it's decided: Brackendale for the nitrate probe, at eleven pounds.",
            "What was decided about the nitrate probe?",
        ),
        ("I'll ring Harold at five past.", "Who will ring Harold at five past?"),
        # What leans on what was said before, or says something else, gives none.
        ("I'll ring her at five past.", None),
        ("It will be considered next year.", None),
        ("The gasket takes a set after a year.", None),
        ("The report was edited in a hurry.", None),
    ],
)
def test_a_sentence_gives_its_question(sentence: str, question: str | None) -> None:
    text = f"Ann: We met at nine.\nBob: {sentence}\nAnn: Well, thank you all.\n"
    found = made(text)
    assert [one.question for one in found] == ([question] if question else [])
    assert all(sentence in text[one.start : one.end] for one in found)


def test_each_template_has_its_turn() -> None:
    terms = " ".join(f'"{word}" means a thing.' for word in ("Batch", "Probe", "Order", "Notice"))
    found = [one.question for one in made(f"{terms} The Trust was founded in 1988.")]
    assert found[:2] == ["When was the Trust founded?", 'What does "Batch" mean?']
    assert len(found) == 5
