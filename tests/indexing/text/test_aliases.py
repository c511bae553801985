"""Aliases: what is read keeps its places, and a word is no name because it looks like one."""

from __future__ import annotations

import random

from generator.evidence import Sentence, Span, evidence_sentences
from indexing.files import document
from indexing.text.aliases import NO_ALIASES, Alias, Aliases

ALIASES = Aliases((Alias("Aoife", ("Eefa", "Ifa")), Alias("York", ("Work", "Jork Shire"))))


def test_words_become_no_names() -> None:
    said = "They work on Eefas workshop; Eefa-like Ifahs, WORK and teamWork. eefa"
    assert ALIASES.spelled([said]) == {"Eefa": "Aoife"}
    assert ALIASES.named("Work with Eefa in Jork Shire, Ifa!") == "York with Aoife in York, Aoife!"
    assert ALIASES.named("aoife works") == "aoife works"


def test_queries_phrases_and_filters_have_all_spellings() -> None:
    assert ALIASES.expanded("What did aoife say?") == "What did aoife say? (Eefa, Ifa)"
    assert ALIASES.expanded("What did Anna say?") == "What did Anna say?"
    assert ALIASES.variants("Aoife Byrne") == ("Aoife Byrne", "Eefa Byrne", "Ifa Byrne")
    assert ALIASES.variants("Ifa") == ("Aoife", "Eefa", "Ifa")
    assert ALIASES.people("Eefa") == "Eefa|Aoife|Ifa"
    assert ALIASES.people("Ana") == "Ana"
    for empty in (NO_ALIASES, Aliases()):
        assert not empty and empty.named("Eefa") == empty.expanded("Eefa") == "Eefa"
        assert empty.spelled(["Eefa"]) == {} and empty.variants("Eefa") == ("Eefa",)


def test_places_of_what_is_read() -> None:
    """Oracle: words that are read stand in the document, or their other spelling does."""
    draw = random.Random(3)
    pieces = ["Eefa", "Ifa", "Jork Shire", "Aoife", "works", "on", "é", "漢字", "May 3"]
    for _ in range(200):
        text = " ".join(draw.choices(pieces, k=draw.randint(1, 9))) + "."
        read, origins = ALIASES.renamed(text)
        assert len(read) == len(origins) and origins == sorted(origins)
        sentence = Sentence(document(f"{text}", name="a"), 0, len(text), 0.0, aliases=ALIASES)
        assert sentence.read == read == ALIASES.named(text) and sentence.text == text
        at = 0
        for word in read.rstrip(".").split(" "):
            first = read.index(word, at)
            at = first + len(word)
            ((start, end),) = sentence.places([(first, at)])
            assert ALIASES.named(text[start:end]) in {word, "York"}


def test_sentences_of_evidence_are_read_so() -> None:
    whole = document("Eefa leads. Ana follows.", name="a")
    first, second = evidence_sentences([Span(whole, 0, len(whole.text), 0.0)], ALIASES)
    assert (first.read, first.text) == ("Aoife leads.", "Eefa leads.")
    assert not second.aliases and second.read == "Ana follows."
