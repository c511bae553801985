"""Words and numbers in one form, however they are said."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.attribution.entailment_rules import parse_sentence
from generator.numbers import tokenize


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("two hundred and twenty-five grams", "225 gram"),
        ("a hundred and one", "a 101"),
        ("one of them, twenty-one", "one of them 21"),
        ("sixty-two thousand pounds", "62000 pound"),
        ("2.5 million", "2500000"),
        ("thirteen hundred probes", "1300 probe"),
        ("£1,250.50 and 007", "1250.5 and 7"),
        ("twenty-seven pounds and twenty-two pence", "27.22 pound"),
        ("three pounds twenty more", "3.2 pound more"),
        ("three pounds, twenty people", "3 pound 20 peopl"),
        ("five euros and two ideas", "5 euro and 2 idea"),
        ("the sixteenth of March", "the 16 of march"),
        ("May the fourth", "may the 4"),
        ("on 27th April", "on 27 april"),
        ("the second March meeting", "the #2 march meet"),
        ("the twenty-first time", "the #21 time"),
        ("1st and 2nd", "#1 and #2"),
        ("eleven forty", "11 40"),
        ("sixty-six thousand, twenty people", "66000 20 peopl"),
        ("ten and twenty", "10 and 20"),
        ("five hundred and more", "500 and more"),
        ("9" * 40, "9" * 40),
        ("1,000th of 5 St James Street", "#1000 of 5 st jame street"),
        ("10² and 3 ² million", "10 ² and 3 ² 1000000"),
        ("version 1.5th", "version 1.5 th"),
        ("٣ million", "3000000"),
        ("", ""),
    ],
)
def test_what_is_said(text: str, facts: str) -> None:
    assert [token.norm for token in tokenize(text)] == facts.split()


def test_a_number_stands_where_its_words_do() -> None:
    text = "It weighs two hundred and ten grams."
    (number,) = [token for token in tokenize(text) if token.norm == "210"]
    assert text[number.start : number.end] == "two hundred and ten"
    assert number.text == "two"


WRITTEN = ["five", "twenty", "-", "and", "hundred", "million", "third", "th", "²", "½", "٣", "1.5"]
WRITTEN += ["1,000", "pounds", "pence", "one", "May", "of", "the", "9" * 5000, "not", ",", ";", "."]


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WRITTEN)).map(" ".join)))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read(text: str) -> None:
    found = tokenize(text)
    assert all(token.norm and 0 <= token.start < token.end <= len(text) for token in found)
    assert [token.start for token in found] == sorted(token.start for token in found)
    parse_sentence(text)


@pytest.mark.parametrize("word", ["five ", "5 ", "twenty-one ", "thousand ", "not , "])
def test_time_grows_with_the_text(word: str) -> None:
    """Twenty times as much takes no four hundred times as long."""

    def spent(count: int) -> float:
        began = time.process_time()
        parse_sentence(word * count)
        return time.process_time() - began

    assert spent(20_000) < 100 * spent(1_000) + 1
