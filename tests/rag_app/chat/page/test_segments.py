"""The pieces of an answer: markers and doubts are told from text that only looks like them."""

from __future__ import annotations

import pytest

from generator.answer import UNSUPPORTED_MARK
from rag_app.chat.page.segments import Segment, paragraphs


def test_a_quote_ends_with_its_own_marker_and_nothing_else_is_one() -> None:
    text = "Ann: See [2] in the minutes. [1]\nBob: As [1] says [2]\nCal: Not the third [7]"
    assert paragraphs(text, "quote") == [
        [Segment("text", "Ann: See [2] in the minutes."), Segment("marker", "1")],
        [Segment("text", "Bob: As [1] says"), Segment("marker", "2")],
        [Segment("text", "Cal: Not the third [7]")],
    ]


def test_doubted_sentences_of_a_free_answer_are_marked() -> None:
    text = f"It moved. [1] It rained. {UNSUPPORTED_MARK} Both. [2] {UNSUPPORTED_MARK} And"
    (line,) = paragraphs(text, "free", ["It rained.", "Both."])
    assert [(piece.kind, piece.text.strip()) for piece in line if piece.text.strip()] == [
        ("text", "It moved."),
        ("marker", "1"),
        ("doubt", "It rained."),
        ("unsupported", "no quote found"),
        ("doubt", "Both."),
        ("marker", "2"),
        ("unsupported", "no quote found"),
        ("text", "And"),
    ]


@pytest.mark.parametrize("mode", ["quote", "free"])
def test_no_text_is_lost(mode: str) -> None:
    text = f"One [1] two [2] {UNSUPPORTED_MARK}.\n\nThree, [not] a marker."
    marks = {"marker": " [{}]", "unsupported": f" {UNSUPPORTED_MARK}"}
    joined = "\n".join(
        "".join(marks.get(piece.kind, "{}").format(piece.text) for piece in line)
        for line in paragraphs(text, mode, ["two"])  # type: ignore[arg-type]
    )
    assert joined.split() == text.split()
