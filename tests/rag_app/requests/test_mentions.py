"""Counts of mentions, compared with a naive search of the same documents."""

from __future__ import annotations

import re

import pytest

from generator.request import AskRequest
from indexing.documents import Document
from rag_app.corpus.corpus import Corpus
from rag_app.requests.mentions import asked_in, mentions
from rag_app.requests.router import route
from rag_app.requests.target import Target
from tests.rag_app.requests.test_router import CATALOGUE, THREE


def naive(document: Document, words: str) -> list[int]:
    """Offsets of an expression in what is said, names before it aside."""
    spoken = [(one.text_start, one.end) for one in document.utterances] or [(0, 10**9)]
    return [
        found.start()
        for found in re.finditer(rf"(?i)\b(?:{words})\b", document.text)
        if any(start <= found.start() < end for start, end in spoken)
    ]


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("Bluetooth", "bluetooth"),
        ("batteries", "battery|batteries"),
        ("launch date", r"launch\s+dates?"),
        ("Ines", "ines"),
        ("drift test", "drift[ -]tests?|drift[ -]tested|drift[ -]testing"),
        ("helicopter", "helicopters?"),
    ],
)
def test_mentions_are_those_of_a_naive_search(
    samples_corpus: Corpus, phrase: str, words: str
) -> None:
    with samples_corpus.reading() as now:
        target = Target("mentions", "", phrase=phrase)
        found = {
            each.document.id: list(each.offsets) for each in mentions(phrase, target, now.store)
        }
    documents = [samples_corpus.document(entry.id) for entry in samples_corpus.documents()]
    wanted = {document.id: naive(document, words) for document in documents}
    assert found == {id_: offsets for id_, offsets in wanted.items() if offsets}


def test_the_scope_limits_what_is_counted(samples_corpus: Corpus) -> None:
    one = samples_corpus.document("heron-1-kick-off").id
    with samples_corpus.reading() as now:
        spoken = Target("mentions", "", spoken=True, phrase="river")
        heard = {each.document.title for each in mentions("river", spoken, now.store)}
        there = [*mentions("river", Target("mentions", "", (one,)), now.store)]
    assert heard
    assert all(title.startswith("heron-") for title in heard)
    assert [each.document.id for each in there] == [one]


# ---- every place ----

EVERY = [
    ("Every time the budget was discussed", "What was said about the budget?"),
    ("Show me all the places where the launch came up", "What was said about the launch?"),
    ("List every passage that criticises the radio", "criticises the radio?"),
    ("Everything that was said about the rubber case", "What was said about the rubber case?"),
    ("How often did we postpone?", "did we postpone?"),
    ("Jedes Mal, als das Budget sank", "Budget sank?"),
    ("Wie oft haben wir die Wahl verschoben?", "did we Wahl verschoben?"),
]


@pytest.mark.parametrize(("question", "asked"), EVERY)
def test_every_place_is_asked_for(question: str, asked: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind == "instances"
    assert asked_in(question) == asked


def test_every_place_of_a_document_that_is_named() -> None:
    limited = route(AskRequest("Every time the launch was discussed in heron-3"), CATALOGUE)
    assert limited.target.kind == "instances" and limited.request.where.documents == (THREE,)
    assert asked_in(limited.request.asked) == "What was said about the launch?"


@pytest.mark.parametrize(
    "question",
    [
        "Which suppliers were named?",
        "How many units failed?",
        "How often does the committee meet?",
        "How often do they vacuum?",
        "How many times was the machine restarted?",
        "What happens every time the alarm rings?",
        "At all times, who has the key?",
    ],
)
def test_a_question_of_how_often_stays_one(question: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind == "question"
    assert asked_in(question) == question.strip("?") + "?"
