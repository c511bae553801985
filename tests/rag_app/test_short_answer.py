"""The words that stand out are those of the span, whatever becomes of the quote's white space."""

from __future__ import annotations

import random

import pytest

from generator.answer import Answer, Citation, ShortAnswer
from rag_app.short_answer import (
    AnswerLine,
    Emphasis,
    answer_lines,
    emphasis,
    line_emphasis,
    quote_emphasis,
)

PIECES = [
    "a", "bc", "é", "漢", "\u0301", "\u202e", "\u200b", "\x1b", "[1]", "**", "<b>", "&", "'",
    " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u2028", "\x85", "\x1c",
]  # fmt: skip


def random_quotes(number: int) -> list[str]:
    chance = random.Random(7)
    return ["".join(chance.choices(PIECES, k=chance.randint(1, 9))) for _ in range(number)]


def test_white_space_moves_no_words() -> None:
    """Oracle: what is no white space, character by character, is what it was."""
    for quote in ("a  b\nc", " a", "a ", "\n", *random_quotes(60)):
        for start in range(len(quote) + 1):
            for end in range(start + 1, len(quote) + 1):
                cut = emphasis(quote, start, end)
                assert cut.text == quote
                line = cut.in_one_line
                assert line.text == " ".join(quote.split())
                assert line.words == " ".join(quote[start:end].split())
                before = quote[:start] if line.words else quote
                assert "".join(line.before.split()) == "".join(before.split())


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, 0), (2, 1), (0, 9), (8, 9), (1, 2)])
def test_a_span_that_is_none_emphasises_nothing(start: int, end: int) -> None:
    assert emphasis("a b", start, end) == Emphasis("a b")


CITATION = Citation(1, "d", "/d", "D", "", 10, 16, "a  b\nc")


def test_only_a_span_of_the_quote_stands_out() -> None:
    short = ShortAnswer.within(CITATION, 13, 16, 0.5)
    assert short is not None
    assert quote_emphasis(CITATION, short) == Emphasis("a  ", "b\nc")
    for wrong in (
        None,
        ShortAnswer(2, "d", 13, 16, "b\nc", 0.5),
        ShortAnswer(1, "e", 13, 16, "b\nc", 0.5),
        ShortAnswer(1, "d", 13, 16, "<script>", 0.5),
        ShortAnswer(1, "d", 3, 6, "b\nc", 0.5),
        ShortAnswer(1, "d", 15, 16, "", 0.5),
    ):
        assert quote_emphasis(CITATION, wrong) == Emphasis(CITATION.quote)


def test_the_lines_of_an_answer_have_their_own_markers_apart() -> None:
    short = ShortAnswer.within(CITATION, 13, 16, 0.5)
    text = "Ann: a b c [1]\nNo quote [1]\nNor this [3]"
    answer = Answer("?", text, citations=(CITATION,), short=short)
    lines = list(answer_lines(answer))
    assert lines[0] == AnswerLine(Emphasis("Ann: a ", "b c"), 1)
    assert [line.marker for line in lines] == [1, None, None]
    assert "\n".join(line.text.text + line.own for line in lines) == text


def test_the_words_stand_out_in_the_line_of_an_answer() -> None:
    quote = Emphasis("a  ", "b\n", "c")
    assert line_emphasis("Ann: a b c", quote) == Emphasis("Ann: a ", "b", " c")
    assert line_emphasis("a b c: a b c", quote) == Emphasis("a b c: a ", "b", " c")
    assert line_emphasis("Ann: a b", quote) == Emphasis("Ann: a b")  # while it is written
    assert line_emphasis("Ann: a b c", Emphasis("a b c")) == Emphasis("Ann: a b c")


def test_a_line_that_is_counted_has_no_marker_and_moves_none() -> None:
    answer = Answer("Who?", "Two people:\nAnn: a b c [1]", citations=(CITATION,))
    assert [*answer_lines(answer)] == [
        AnswerLine(Emphasis("Two people:")),
        AnswerLine(Emphasis("Ann: a b c"), 1),
    ]
