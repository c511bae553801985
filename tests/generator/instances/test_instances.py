"""Pages of places in the order of their documents; numbers that are said, and those counted."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from generator.evidence import Sentence
from generator.instances.instances import instances
from generator.instances.places import BIAS, WEIGHTS, Place
from indexing.documents import Document
from indexing.files import document

FIRST = document("Ada: We met on 3 May 2025.\nBob: Nine units failed.", name="b.txt", title="b")
LATER = document("Minutes of 4 June 2025\n\nThe price rose twice.", name="a.txt", title="a")
UNDATED = document("Some units failed again.", name="c.txt", title="c")


def place(of: Document, words: str, probability: float, *, both: bool = True) -> Place:
    start = of.text.index(words)
    sentence = Sentence(of, start, start + len(words), 0.0)
    logit = math.log(probability / (1 - probability))
    values = dict.fromkeys(WEIGHTS, 0.0) | {"relevance": (logit - BIAS) / WEIGHTS["relevance"]}
    return Place(sentence, words, values, both)


@pytest.fixture
def read() -> Iterator[list[Place]]:
    yield [
        place(UNDATED, "Some units failed again.", 0.6),
        place(LATER, "The price rose twice.", 0.9),
        place(FIRST, "Nine units failed.", 0.8),
        place(FIRST, "We met", 0.01),
    ]


def test_places_are_in_the_order_of_days_and_those_without_one_last(read: list[Place]) -> None:
    found = instances("What failed?", read, start=0, page=9)
    assert [hit.title for hit in found.hits] == ["b", "a", "c"]
    assert [hit.day for hit in found.hits] == ["2025-05-03", "2025-06-04", ""]
    assert found.found == 3 and len(found.read) == 4
    assert found.estimate.number == pytest.approx(0.6 + 0.9 + 0.8 + 0.01)
    for hit in found.hits:
        text = next(one.document.text for one in read if one.document.id == hit.document)
        assert all(text[one.start : one.end] == one.text for one in hit.passages)


def test_pages_are_parts_of_the_whole_list(read: list[Place]) -> None:
    whole = instances("What failed?", read, start=0, page=9)
    pages = [instances("What failed?", read, start=at, page=2) for at in (0, 2, 4)]
    assert sum((one.places for one in pages), ()) == whole.places
    assert [one.start for one in pages] == [0, 2, 4]


def test_a_number_that_is_said_is_stated_and_another_is_counted(read: list[Place]) -> None:
    said = instances("How many units failed?", read, start=0, page=9)
    assert said.stated is not None and said.stated.words == "Nine units failed."
    assert not instances("What failed?", read, start=0, page=9).counts
    unsaid = instances("How many units failed?", read[:1], start=0, page=9)
    assert unsaid.counted and unsaid.stated is None
    often = instances("How often did we fail?", read[2:], start=0, page=9)
    assert often.counted  # "nine units" is no number of times
    assert not instances("How often did the price rise?", read, start=0, page=9).counted
