"""An overview of real documents: every sentence is the document's own, and nothing is left out."""

from __future__ import annotations

import pytest

from generator.overview.overview import Overview, Quote, as_json, overview
from indexing.documents import Document
from indexing.files import document
from indexing.text.chunking import split
from rag_app.corpus.corpus import Corpus

TITLES = (
    "heron-1-kick-off",
    "heron-4-2025-10-27",
    "The State of the Ellmere 2024",
    "Tarnwick Instruments: Staff Handbook, edition 7",
    "the-ferry-book",
)


@pytest.fixture(params=TITLES)
def sample(request: pytest.FixtureRequest, samples_corpus: Corpus) -> tuple[Document, Overview]:
    return samples_corpus.document(request.param), samples_corpus.overview(request.param)


def quotes(about: Overview) -> list[Quote]:
    of_topics = [topic.quote for topic in about.topics]
    return [*of_topics, *about.decisions, *(action.quote for action in about.actions)]


def test_every_quote_is_a_span_of_the_document(sample: tuple[Document, Overview]) -> None:
    whole, about = sample
    assert quotes(about)
    for quote in quotes(about):
        assert whole.text[quote.start : quote.end] == quote.text
        utterance = whole.utterance_at(quote.start)
        assert quote.speaker == (utterance.speaker if utterance else None)
        assert quote.time == (utterance.time if utterance else None)
        assert quote.page == whole.page_at(quote.start)


def test_topics_cover_the_document_in_order(sample: tuple[Document, Overview]) -> None:
    whole, about = sample
    assert len(about.topics) > 1
    at = 0
    for topic in about.topics:
        assert not whole.text[at : topic.start].strip()
        assert topic.start <= topic.quote.start < topic.quote.end <= topic.end
        at = topic.end
    assert not whole.text[at:].strip()


def test_shares_of_speakers_are_counted_in_words(sample: tuple[Document, Overview]) -> None:
    whole, about = sample
    words: dict[str, int] = {}
    for utterance in whole.utterances:
        if utterance.speaker:
            said = len(whole.text[utterance.text_start : utterance.end].split())
            words[utterance.speaker] = words.get(utterance.speaker, 0) + said
    assert {each.name: each.words for each in about.speakers} == words
    assert [each.words for each in about.speakers] == sorted(words.values(), reverse=True)
    if words:
        assert sum(each.share for each in about.speakers) == pytest.approx(1)


def test_a_document_of_one_sentence_is_one_topic(samples_corpus: Corpus) -> None:
    short = document("The probe leaks.", name="short")
    vectors = samples_corpus._models.encoder(None).encode_queries(["The probe leaks."])
    about = overview(short, split(short), vectors)
    assert [topic.quote.text for topic in about.topics] == ["The probe leaks."]
    assert (about.words, about.seconds, about.pages, about.speakers) == (3, None, None, ())


def test_json_has_times_as_people_write_them(samples_corpus: Corpus) -> None:
    about = samples_corpus.overview("heron-1-kick-off")
    values = as_json(about)
    assert values["topics"][0]["time"] == "00:00:00" or about.topics[0].time != 0
    for topic, value in zip(about.topics, values["topics"], strict=True):
        assert value["quote"]["text"] == topic.quote.text
        assert value["quote"]["time"].count(":") == 2
