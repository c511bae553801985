"""Which speakers a question names, and that their passages come first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder
from indexing.index.array_file import read_arrays, write_arrays
from indexing.index.speakers import Speakers
from rag_app.corpus.corpus import Corpus
from retriever.speaker_mentions import named_speakers

SPEAKERS = Speakers.of(
    [
        ("Professor B", "Grad G"),
        ("Grad C", "Kirsty Williams AM"),
        ("Hon. Chrystia Freeland (Minister of Finance)", "Will"),
        ("Project Manager", "Anna Berg", "Grad G"),
        (),
    ]
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Grad G think of the parser?", {"Grad G"}),
        ("what did grad g and GRAD C think?", {"Grad G", "Grad C"}),
        ("What did the professor say?", {"Professor B"}),
        ("What did Kirsty Williams announce?", {"Kirsty Williams AM"}),
        ("What did Chrystia Freeland say?", {"Hon. Chrystia Freeland (Minister of Finance)"}),
        ("Did the project manager agree with Anna?", {"Project Manager"}),
        ("Why is Anna against it?", {"Anna Berg"}),
        ("Why is anna against it?", set()),
        ("Will the budget of the project rise, and which finance plan holds?", set()),
        ("What did the Minister say?", set()),  # a word of an office, not of a person's name
        ("Project costs?", set()),
        ("", set()),
    ],
)
def test_speakers_that_a_question_names(question: str, names: set[str]) -> None:
    assert {SPEAKERS.names[n] for n in named_speakers(question, SPEAKERS)} == names


def test_weight_is_one_over_the_place_by_words_said() -> None:
    number = SPEAKERS.names.index("Grad G")
    found = SPEAKERS.postings.score(np.array([number]))
    np.testing.assert_array_equal(found, np.array([1 / 2, 0, 0, 1 / 3, 0], np.float32))


def test_speakers_are_saved_and_read_back(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", SPEAKERS.postings.arrays("speakers"))
    again = Speakers.from_arrays(SPEAKERS.names, read_arrays(tmp_path / "a"), 5)
    assert again.names == SPEAKERS.names
    every = np.arange(len(SPEAKERS.names))
    np.testing.assert_array_equal(again.postings.score(every), SPEAKERS.postings.score(every))


def test_a_named_speaker_comes_first(tmp_path: Path, encoder: Encoder) -> None:
    def said(who: str) -> str:
        case = "The blue case costs four euros, which I find too much for a toy."
        return f"{who}: {case}\nDora: Thank you.\n{who}: That is all.\nDora: Next, please."

    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for who in ("Ana", "Bob", "Cara"):
            corpus.add_text(said(who), name=f"{who}.txt")
        for who in ("Ana", "Bob", "Cara"):
            best = corpus.search(f"What did {who.lower()} think of the price of the case?")[0]
            assert best.passages[0].speakers[0] == who
            assert best.parts["speakers"] == 1.0
