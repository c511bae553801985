"""Short and long answers beside usual ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.answer_length import LENGTHS
from generator.request import AskRequest
from indexing.errors import InvalidRequest
from rag_app.corpus.corpus import Corpus

QUESTION = "What does the ferry carry?"
CARGO = ("coal", "sheep", "letters", "barrels of salt", "a grand piano", "three priests")


def test_a_longer_answer_quotes_more(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        text = "\n\n".join(f"The ferry carries {one} across the water." for one in CARGO)
        corpus.add_text(text, name="ferry")
        words = {
            length: sum(
                len(each.quote.split())
                for each in corpus.answer(AskRequest(QUESTION, length=length)).citations
            )
            for length in LENGTHS
        }
    assert 0 < words["short"] <= words["usual"] < words["long"]


def test_a_length_has_a_name() -> None:
    with pytest.raises(InvalidRequest, match="short, usual, long"):
        AskRequest("Why?", length="endless")  # type: ignore[arg-type]
