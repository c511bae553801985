"""The pieces of an answer: markers and doubts are told from text that only looks like them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.answer import UNSUPPORTED_MARK, Answer, Citation, ShortAnswer
from rag_app.chat.page.segments import Segment, paragraphs


def test_a_quote_ends_with_its_own_marker_and_nothing_else_is_one() -> None:
    text = "Ann: See [2] in the minutes. [1]\nBob: As [1] says [2]\nCal: Not the third [7]"
    assert paragraphs(text, "quote") == [
        [Segment("text", "Ann: See [2] in the minutes."), Segment("marker", "1")],
        [Segment("text", "Bob: As [1] says"), Segment("marker", "2")],
        [Segment("text", "Cal: Not the third [7]")],
    ]


def test_lines_that_quote_nothing_have_no_marker() -> None:
    text = "minutes, in so many words:\nDecided: It moves. [1]\nand 2 more [1]\nTo do: Ring. [2]"
    assert paragraphs(text, "quote") == [
        [Segment("text", "minutes, in so many words:")],
        [Segment("text", "Decided: It moves."), Segment("marker", "1")],
        [Segment("text", "and 2 more [1]")],
        [Segment("text", "To do: Ring."), Segment("marker", "2")],
    ]


def test_what_a_list_says_of_a_quote_stands_apart() -> None:
    citation = Citation(1, "d", "/d", "D", "", 0, 16, "I'll  ring\nthem.", speaker="Ann")
    text = "D, in so many words:\nTo do, Ann, today: I'll ring them. [1]"
    assert paragraphs(text, "quote", Answer("What?", text, citations=(citation,)))[1] == [
        Segment("label", "To do, Ann, today: "),
        Segment("text", "I'll ring them."),
        Segment("marker", "1"),
    ]


def test_doubted_sentences_of_a_free_answer_are_marked() -> None:
    text = f"It moved. [1] It rained. {UNSUPPORTED_MARK} Both. [2] {UNSUPPORTED_MARK} And"
    answer = Answer("Why?", text, unsupported=("It rained.", "Both."))
    (line,) = paragraphs(text, "free", answer)
    assert [(piece.kind, piece.text.strip()) for piece in line if piece.text.strip()] == [
        ("text", "It moved."),
        ("marker", "1"),
        ("doubt", "It rained."),
        ("unsupported", "no support found"),
        ("doubt", "Both."),
        ("marker", "2"),
        ("unsupported", "no support found"),
        ("text", "And"),
    ]


def test_the_words_that_answer_stand_apart_in_their_quote() -> None:
    quotes = ("It  moved.\n[1] Then: <b>it</b> rained.", "It rained.")
    citations = tuple(
        Citation(n, "d", "/d", "D", "", 100 * n, 100 * n + len(quote), quote, speaker="Ann\nLee")
        for n, quote in enumerate(quotes, 1)
    )
    start = quotes[0].index("moved")
    short = ShortAnswer.within(citations[0], 100 + start, 100 + start + 10, 0.9)
    assert short is not None and short.text == "moved.\n[1]"
    text = "Ann Lee: It moved. [1] Then: <b>it</b> rained. [1]\nAnn Lee: It rained. [2]"
    answer = Answer("What?", text, citations=citations, short=short)
    assert paragraphs(text, "quote", answer) == [
        [
            Segment("label", "Ann Lee: "),
            Segment("text", "It "),
            Segment("short", "moved. [1]"),
            Segment("text", " Then: <b>it</b> rained."),
            Segment("marker", "1"),
        ],
        [Segment("label", "Ann Lee: "), Segment("text", "It rained."), Segment("marker", "2")],
    ]
    elsewhere = replace(answer, short=replace(short, text="<i>"))
    assert all(s.kind != "short" for line in paragraphs(text, "quote", elsewhere) for s in line)


@pytest.mark.parametrize("mode", ["quote", "free"])
def test_no_text_is_lost(mode: str) -> None:
    text = f"One [1] two [2] {UNSUPPORTED_MARK}.\n\nThree, [not] a marker."
    marks = {"marker": " [{}]", "unsupported": f" {UNSUPPORTED_MARK}"}
    joined = "\n".join(
        "".join(marks.get(piece.kind, "{}").format(piece.text) for piece in line)
        for line in paragraphs(text, mode, Answer("?", text, unsupported=("two",)))  # type: ignore[arg-type]
    )
    assert joined.split() == text.split()
