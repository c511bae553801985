"""Words and numbers in one form, however they are said."""

from __future__ import annotations

import pytest

from generator.amounts import terms


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
        ("", ""),
    ],
)
def test_what_is_said(text: str, facts: str) -> None:
    assert [term.fact for term in terms(text)] == facts.split()


def test_a_number_stands_where_its_words_do() -> None:
    text = "It weighs two hundred and ten grams."
    (number,) = [term for term in terms(text) if term.number]
    assert text[number.start : number.end] == "two hundred and ten"
    assert number.token == "two"
