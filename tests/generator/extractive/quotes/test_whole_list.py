"""Quotes of an item become the whole list."""

from __future__ import annotations

import pytest

from generator.evidence import Sentence
from generator.extractive.quotes.whole_list import whole_list
from tests.generator.conftest import prose, transcript

LIST = """The bag for the trip

In the bag:
- plasters, two
  boxes of them
- a torch

- the list of numbers
It is checked on Fridays.

1. Not on a Saturday.
2. Not by boat.

* another kind
- of bullet
"""


def quoted(said: str, text: str = LIST) -> str:
    """The whole list of an item, white space joined."""
    start = text.index(said)
    found = whole_list(Sentence(prose(text), start, start + len(said), 1.0))
    return " ".join(found.text.split())


BAG = "- plasters, two boxes of them - a torch - the list of numbers It is checked on Fridays."


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("- a torch", BAG),
        ("a torch", BAG),
        ("- plasters, two", BAG),
        ("Not by boat.", "1. Not on a Saturday. 2. Not by boat."),
        ("* another kind", "* another kind - of bullet"),
        ("The bag for the trip", "The bag for the trip"),
        ("In the bag:", "In the bag:"),
    ],
)
def test_an_item_becomes_its_list(said: str, whole: str) -> None:
    assert quoted(said) == whole


def test_a_long_list_is_quoted_from_the_item_on() -> None:
    text = "\n".join(f"{number}. {'word ' * 20}end." for number in range(1, 10))
    found = quoted(f"3. {'word ' * 20}end.", text)
    assert found.startswith("3. word") and found.count("end.") == 4


def test_what_somebody_says_is_no_list() -> None:
    document = transcript([("Ada", "- one"), ("Ben", "- two")])
    start = document.text.index("- one")
    said = Sentence(document, start, start + 5, 1.0, utterance=start)
    assert whole_list(said) is said
