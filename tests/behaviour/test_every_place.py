"""Every place that says something, of a corpus: found, paged, limited, and as an answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.corpus.corpus import Corpus

SAID = [
    "The beekeeper of Nine Elms keeps a spare key inside a hollow pear.",
    "On rainy Thursdays the beekeeper of Nine Elms eats nothing but sour cherries.",
    "The beekeeper of Nine Elms paints every door turquoise.",
]
QUESTION = "Every time the beekeeper of Nine Elms is spoken of"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Three meetings on other matters, with one sentence each on the beekeeper."""
    talk = [
        "We ordered the paper and the ink for the spring catalogue.",
        "The lift is repaired on Monday, and the stairs are painted afterwards.",
        "Nobody has answered the letter about the car park so far.",
        "Lunch is moved to one o'clock because of the fire drill.",
    ]
    texts = [
        [f"Ada: {each}" if number % 2 else f"Bob: {each}" for number, each in enumerate(talk * 12)]
        for _ in SAID
    ]
    for lines, sentence in zip(texts, SAID, strict=True):
        lines.insert(25, f"Cleo: {sentence}")
    with Corpus(tmp_path_factory.mktemp("every") / "corpus") as corpus:
        corpus.add_documents(
            document("\n".join([f"2025-0{9 - number}-01", "", *lines]), name=f"{number}.txt")
            for number, lines in enumerate(texts)
        )
        yield corpus


def test_all_that_is_said_is_found_from_the_earliest_on(planted: Corpus) -> None:
    found = planted.every(QUESTION)
    texts = [one.text for hit in found.hits for one in hit.passages]
    assert [text for text in texts if "beekeeper" in text] == SAID[::-1]
    assert round(found.estimate.low) <= len(SAID) <= round(found.estimate.high)
    assert found.found >= 3 and not found.counts


def test_a_page_has_so_many(planted: Corpus) -> None:
    whole = planted.every(QUESTION)
    second = planted.every(QUESTION, start=1, page=1)
    assert [one.statement for one in second.places] == [whole.places[1].statement]
    assert second.found == whole.found and second.estimate == whole.estimate


def test_limits_are_kept(planted: Corpus) -> None:
    assert not any("beekeeper" in one.words for one in planted.every(QUESTION, speaker="Ada").read)
    later = planted.every(QUESTION, speaker="Cleo", since="2025-08")
    assert [one.statement.text for one in later.places] == SAID[1::-1]


def test_a_question_for_every_place_is_answered_by_the_list(planted: Corpus) -> None:
    answer = planted.ask(QUESTION)
    assert answer.kind == "instances" and answer.text.startswith("About ")
    assert f"; {planted.every(QUESTION).found} that may say it were found, 1 to " in answer.text
    quotes = [one.quote for one in answer.citations]
    assert [text for text in quotes if "beekeeper" in text] == SAID[::-1]
    assert all(one.verified for one in answer.citations)
    looked_up = planted.ask(QUESTION, read_as="question")
    assert looked_up.kind == "question"


def test_nothing_is_found_where_nothing_is_said(planted: Corpus) -> None:
    found = planted.every("Every time the submarine was discussed")
    assert found.found == 0 and found.places == () and found.hits == []
    assert planted.ask("Every time the submarine was discussed").kind == "question"


@pytest.mark.parametrize("wrong", [{"start": -1}, {"page": 0}])
def test_a_wrong_page_is_refused(planted: Corpus, wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidRequest):
        planted.every(QUESTION, start=wrong.get("start", 0), page=wrong.get("page", 1))
    with pytest.raises(InvalidRequest):
        planted.every("  ")
