"""Search in a document finds what stands there, broken into lines or not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_app.chat.viewer.matches import MOST, matches


def test_words_are_found_in_any_case_and_over_line_ends() -> None:
    text = "The mast\n  is tall. A MAST IS a mast (a.b)."
    assert [text[a:b] for a, b in matches(text, " mast  is ")] == ["mast\n  is", "MAST IS"]
    assert [text[a:b] for a, b in matches(text, "(a.b)")] == ["(a.b)"]
    assert matches(text, "a+b") == matches(text, "  ") == []
    assert len(matches("a " * 5000, "a")) == MOST


@given(st.text("ab", max_size=20), st.text("ab", min_size=1, max_size=3))
def test_matches_are_those_of_a_naive_loop(text: str, word: str) -> None:
    expected, at = [], 0
    while at + len(word) <= len(text):
        if text[at : at + len(word)] == word:
            expected.append((at, at + len(word)))
            at += len(word)
        else:
            at += 1
    assert matches(text, word) == expected
