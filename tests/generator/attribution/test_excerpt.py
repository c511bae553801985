"""Excerpts: neighbours together, labels read, documents apart, nothing lost."""

from __future__ import annotations

from generator.attribution.excerpt_support import excerpts
from generator.evidence import Span, evidence_sentences
from tests.generator.conftest import prose, span, transcript

TALK = transcript(
    [
        ("Ann", "The probe {vocalsound} is late. It comes in May."),
        ("Bob", "Who told you that?"),
        ("Bob", "Nobody told me."),
    ]
)


def test_labels_are_read_once_an_utterance_and_annotations_are_not() -> None:
    (whole,) = excerpts(evidence_sentences([span(TALK)]))
    expected = (
        "Ann: The probe is late. It comes in May. Bob: Who told you that? Bob: Nobody told me."
    )
    assert whole.text == expected


def test_every_sentence_is_in_one_excerpt_none_longer_than_asked() -> None:
    document = prose(" ".join(f"Sentence number {i} says a little." for i in range(80)))
    spoken = evidence_sentences([span(document), span(TALK)])
    parts = excerpts(reversed(spoken), length=200)
    assert sorted(one.start for each in parts for one in each.sentences) == sorted(
        one.start for one in spoken
    )
    for each in parts:
        assert len({one.document.id for one in each.sentences}) == 1
        assert sum(one.end - one.start for one in each.sentences) <= 200


def test_what_stands_far_apart_is_not_read_together() -> None:
    document = prose(f"The first is here. {'x' * 300} The last is there.")
    ends = [
        Span(document, 0, 18, 1.0),
        Span(document, len(document.text) - 18, len(document.text), 1.0),
    ]
    assert [each.text for each in excerpts(evidence_sentences(ends))] == [
        "The first is here.",
        "The last is there.",
    ]


def test_a_long_sentence_stands_alone() -> None:
    document = prose(f"Short. {'word ' * 60}end. Short again.")
    texts = [each.text for each in excerpts(evidence_sentences([span(document)]), length=100)]
    assert len(texts) == 3 and texts[0] == "Short." and texts[2] == "Short again."
