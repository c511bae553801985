"""The latest word on a matter leads, unless the question asks for an earlier one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.latest import (
    document_days,
    latest_features,
    recency,
    statements,
    with_days,
)
from generator.extractive.quotes.quote_length import QuoteLength
from generator.extractive.quotes.selector import select_quotes
from indexing.documents import Document, Occasion, Page
from tests.generator.conftest import prose, span

MEETINGS = (
    ("2026-03-01", "The launch is on Monday the second of March."),
    ("2026-03-15", "The launch moves from the second of March to the thirtieth of March."),
    ("2026-04-20", "The launch is now on the eleventh of May, and not on the thirtieth of March."),
)


def meetings() -> list[Document]:
    return [
        replace(prose(text, name=f"m{number}"), occasion=Occasion(day, "file name"))
        for number, (day, text) in enumerate(MEETINGS)
    ]


def features_of(question: str, embed: Embed, documents: list[Document]) -> SentenceFeatures:
    sentences = evidence_sentences(map(span, documents))
    return SentenceFeatures.of(question, sentences, WordVectors(embed))


def days_of(features: SentenceFeatures) -> dict[str, str]:
    return document_days({one.document.id: one.document for one in features.sentences})


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_latest_statement_leads(order: tuple[int, ...], embed: Embed) -> None:
    documents = [meetings()[i] for i in order]
    features = features_of("When is the launch?", embed, documents)
    (first, *_) = select_quotes(features, length=QuoteLength())
    assert "eleventh of May" in first.text


def test_earlier_statements_follow_from_the_latest_to_the_earliest(embed: Embed) -> None:
    documents = meetings()
    again = replace(documents[2], text=f"{documents[2].text} The launch is the eleventh of May.")
    features = features_of("When is the launch?", embed, [*documents[:2], again])
    quotes = select_quotes(features, length=QuoteLength(enough=1.0))
    assert [one.document.id for one in quotes] == ["m2", "m1", "m0"]


def test_what_was_once_so_is_not_the_latest(embed: Embed) -> None:
    features = features_of("When was the launch originally?", embed, meetings())
    assert not statements(features, np.zeros(3, np.float32), days_of(features)).late


def test_how_late_is_told_by_what_may_answer(embed: Embed) -> None:
    other = replace(prose("Lunch is now at noon.", name="later"), occasion=Occasion("2026-06-01"))
    features = features_of("When is the launch?", embed, [*meetings(), other])
    even = np.log([0.5, 0.25, 0.25, 1e-30]) * 1.5  # in the scale of what may answer
    found = latest_features(features, np.asarray(even, np.float32), days_of(features))
    np.testing.assert_allclose(found["later"], [-0.5, 0.25, 0.75, 1.0], atol=1e-6)
    np.testing.assert_allclose(found["later, a change"], [0, 0.25, 0.75, 1.0], atol=1e-6)
    assert not found["further on"].any() and not found["after"].any()


def test_how_far_on_is_told_within_a_document(embed: Embed) -> None:
    said = "The launch is in May. It was a long day. The launch is in June, then."
    features = features_of("When is the launch?", embed, [prose(said)])
    found = latest_features(features, np.array([0.0, -np.inf, 0.0], np.float32), days_of(features))
    np.testing.assert_allclose(found["further on"], [-0.5, 0.0, 0.5], atol=1e-6)
    assert not found["later"].any()


def test_what_is_said_after_a_month_that_is_asked_about_is_told(embed: Embed) -> None:
    features = features_of("When was the launch planned for in March?", embed, meetings())
    found = latest_features(features, np.zeros(3, np.float32), days_of(features))
    assert found["after"].tolist() == [0.0, 0.0, 0.0]  # the last of them names March
    told = [replace(one, text=one.text.replace("thirtieth of March", "last")) for one in meetings()]
    features = features_of("When was the launch planned for in March?", embed, told)
    found = latest_features(features, np.zeros(3, np.float32), days_of(features))
    assert found["after"].tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_allclose(found["later"][:2], [-0.5, 0.5], atol=1e-6)


def test_a_later_sentence_on_another_matter_does_not_lead(embed: Embed) -> None:
    other = replace(prose("Lunch is now at noon.", name="later"), occasion=Occasion("2026-06-01"))
    features = features_of("When is the launch?", embed, [*meetings(), other])
    (first, *_) = select_quotes(features, length=QuoteLength())
    assert "eleventh of May" in first.text


def test_what_held_in_a_month_leads(embed: Embed) -> None:
    features = features_of("When was the launch planned for in March?", embed, meetings())
    (first, *_) = select_quotes(features, length=QuoteLength())
    assert first.document.id == "m1"


def test_a_course_is_told_from_the_earliest_to_the_latest(embed: Embed) -> None:
    features = features_of("How did the date of the launch change?", embed, meetings()[::-1])
    quotes = select_quotes(features, length=QuoteLength())
    assert [one.document.id for one in quotes] == ["m0", "m1", "m2"]


@pytest.mark.parametrize(
    "talk",
    [
        "The posters for the launch still say the second of March.",
        "Somebody proposed the ninth of June for the launch.",
    ],
)
def test_talk_of_a_value_that_does_not_hold_is_no_latest_word(talk: str, embed: Embed) -> None:
    last = replace(prose(talk, name="m3"), occasion=Occasion("2026-05-04", "file name"))
    features = features_of("When is the launch?", embed, [*meetings(), last])
    (first, *_) = select_quotes(features, length=QuoteLength())
    assert first.document.id == "m2"


def test_documents_without_dates_stand_in_the_middle() -> None:
    documents = [*meetings(), prose("Nobody knows when.", name="undated")]
    days = document_days({one.id: one for one in documents})
    assert days == {"m0": "2026-03-01", "m1": "2026-03-15", "m2": "2026-04-20", "undated": ""}
    assert [*recency(dict(enumerate(days.values()))).values()] == [0.0, 0.5, 1.0, 0.5]
    assert recency({7: ""}) == {7: 0.0}


def test_citations_say_the_days_of_their_documents() -> None:
    documents = [*meetings(), prose("Nobody knows when.", name="undated")]
    cited = [each.cited() for each in evidence_sentences(map(span, documents[:0:-1]))]
    told = [one.dated for one in with_days(cited, documents, "When is the launch?")]
    assert told == ["no date", "2026-04-20", "2026-03-15"]
    told = [one.dated for one in with_days(cited[1:], documents, "When is the launch?")]
    assert told == ["2026-04-20", "2026-03-15, earlier"]


def test_a_quoted_mail_counts_as_of_its_own_day(embed: Embed) -> None:
    own = "The launch is now on the eleventh of May.\n\n"
    quoted = "The launch will be held on the second of March, as everybody knows."
    pages = (
        Page(0, len(own), 1, "mail from Ada, 20 April 2026"),
        Page(len(own), len(own + quoted), 2, "mail from Bob, 1 March 2026"),
    )
    mail = replace(prose(own + quoted), pages=pages, occasion=Occasion("2026-04-20", "head"))
    features = features_of("When is the launch?", embed, [mail])
    told = statements(features, np.zeros(2, np.float32), days_of(features))
    assert told.late == {0: 1.0, 1: 0.0}
    cited = [each.cited() for each in evidence_sentences([span(mail)])]
    dated = [one.dated for one in with_days(cited, [mail], "When is the launch?")]
    assert dated == ["2026-04-20", "2026-03-01, earlier"]


def test_what_goes_back_is_a_change(embed: Embed) -> None:
    said = (
        ("2026-03-01", "The gym closes at nine from today."),
        ("2026-04-01", "The gym goes back to closing at ten."),
    )
    documents = [
        replace(prose(text, name=day), occasion=Occasion(day, "file name")) for day, text in said
    ]
    features = features_of("What time does the gym close?", embed, documents)
    told = statements(features, np.array([0.0, -3.0], np.float32), days_of(features))
    assert told.late == {0: 0.0, 1: 1.0}


def test_a_question_is_no_statement(embed: Embed) -> None:
    said = (
        ("2026-03-01", "The number of the permit is SK-118."),
        ("2026-04-01", "May I ask about three changes in the permit?"),
    )
    documents = [
        replace(prose(text, name=day), occasion=Occasion(day, "file name")) for day, text in said
    ]
    features = features_of("What is the number of the permit?", embed, documents)
    assert set(statements(features, np.zeros(2, np.float32), days_of(features)).late) == {0}
