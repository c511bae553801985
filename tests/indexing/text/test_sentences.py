"""Sentences are spans of characters, whatever the script, the line breaks and the length."""

# ruff: noqa: RUF001 - texts in other scripts

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.text.sentences import WINDOW, sentences, wrap_width


def split(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in sentences(text, 0, len(text), language)]


CASES = {
    "accents and emoji": ["Café élan 😀 naïve.", "Zoë said 👩‍👩‍👧 so.", "Ça va?"],
    "abbreviations": ["Mr. Smith paid $3.50 to Dr. Jones.", "The U.S. Army came.", "See Fig. 3."],
    "spaced punctuation": [
        "OK .",
        "Um , so we - we said that .",
        "Right ?",
        "And {vocalsound} no .",
    ],
    "quotes": ["“Why?” he asked.", "She said “no.”", "He left."],
    "numbers": ["1. First we cut it.", "2. Then we paste it."],
    "no space after a stop": ["Was it?Yes.No doubt about example.com."],
}


@pytest.mark.parametrize("case", CASES)
def test_english(case: str) -> None:
    assert split(" ".join(CASES[case])) == CASES[case]


def test_scripts_without_spaces() -> None:
    assert split("会議を始めます。予算です。本当？はい！") == [
        "会議を始めます。", "予算です。", "本当？", "はい！",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Heading One\nThe text begins here.\nIt goes on.", 3),
        ("The meeting agreed on a budget of\n2,000 euros for the coming year and\nwent home.", 1),
        ("The meeting agreed on it with Alice\nSmith, who had come from the city of\nBonn.", 1),
        ("Shopping\nMilk and bread\nMore milk", 3),
        ("- one item\n- another item\n* a third", 3),
        ("1. one item\n2. another item", 2),
        ("Alice: well\nBob: yes", 2),
        ("one paragraph\n\nanother", 2),
        ("a | b\nc | d", 2),
        ("It begins\r\nhere. And ends.", 2),
    ],
)
def test_newlines(text: str, expected: int) -> None:
    assert len(split(text.replace("\r\n", "\n"))) == expected


def test_only_the_span_asked_for() -> None:
    text = "One here. Two here. Three here."
    start, end = text.index("Two") - 1, text.index("Three") + 5
    assert [text[a:b] for a, b in sentences(text, start, end)] == ["Two here.", "Three"]
    assert sentences(text, 3, 3) == sentences(" \n ", 0, 3) == []


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2028", "\u2009", "\u1680", "\x85"])
def test_odd_white_space_does_not_panic(space: str) -> None:
    text = f"x{space}J. K{space}. Then it ended. He left."
    assert split(text)[-1] == "He left."


def test_the_language_may_be_unknown() -> None:
    assert split("Hello there. Bye.", "no-such") == ["Hello there.", "Bye."]


# Words that begin and end sentences, quotes, lists and lines.
pieces = st.sampled_from(
    ["a", "Then", "J.", "Mr.", "é", "😀", "日本", "。", ".", "?", "!", "…", '"', "“", "”", "(", ")",
     " ", " ", "\n", "\n\n", "\u00a0", "\u3000", "1.", "- ", "# ", ":", "e\u0301", "…"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=60), st.integers(0, 20), st.integers(0, 20))
def test_spans_cover_what_is_not_white_space(parts: list[str], skip: int, cut: int) -> None:
    text = "".join(parts)
    start, end = min(skip, len(text)), max(0, len(text) - cut)
    at = start
    for first, last in sentences(text, start, end):
        assert text[at:first].strip() == ""
        assert start <= first < last <= end
        assert text[first:last] == text[first:last].strip()
        at = last
    assert text[at:end].strip() == ""


def test_a_row_of_a_table_is_one_sentence() -> None:
    rows = ["Item: Tea. Hot. | Cost: 2", "Item: Cake? | Note: Ask Bob. Now."]
    assert split("\n".join(rows)) == rows


def test_windows_leave_no_trace() -> None:
    given_sentences = [f"This is the sentence number {n} of many." for n in range(2000)]
    text = " ".join(given_sentences)
    assert len(text) > 8 * WINDOW
    assert split(text) == given_sentences


def test_time_grows_with_length_only() -> None:
    text = "So we said that it was, and then they went home again. " * 40_000  # 2.2 million
    begun = time.process_time()
    assert len(sentences(text, 0, len(text))) == 40_000
    assert (
        time.process_time() - begun < 10
    )  # takes about half a second; the square would take hours


def test_lines_much_narrower_than_the_text_are_no_wrapped_paragraph() -> None:
    wrapped = [
        "The lake was measured in the spring of that year, when the ice was gone and Ada"
    ] * 4
    table = ["Learning rate schedule linear", "Speechless audio factor ten", "Batch size small"]
    assert split("\n".join([*wrapped, "had her boat.", "", *table]))[-3:] == table
    assert len(split("\n".join(table))) == 1  # where nothing is wider


def test_a_line_goes_on_after_a_comma() -> None:
    lines = [
        "Models were trained with Adam (Hutter,",
        "2017) and every model of this paper was wide",
    ]
    assert split("\n".join([*lines, "enough for it."])) == ["\n".join([*lines, "enough for it."])]


def test_a_line_without_end_takes_no_time_that_grows_with_its_square() -> None:
    for line in ("1" * 300_000, " " * 300_000, "|-" * 100_000, "A." * 200_000):
        assert wrap_width(f"One line\nand two.\n\n{line}\n\nThe end.") == len("One line")


@pytest.mark.parametrize(
    "said",
    [
        ["Die Übung ist am 25. Oktober um 14 Uhr.", "Es waren 12.", "Der Chef ging."],
        ["Das Lager ist vom 31. Juli bis zum 3. August.", "Der 1. Vorsitzende kommt."],
        ["Es kostet 12,50.", "Mehr nicht."],
    ],
)
def test_ordinals_end_no_sentence_in_german(said: list[str]) -> None:
    text = " ".join(said)
    assert [text[start:end] for start, end in sentences(text, 0, len(text), "de")] == said
