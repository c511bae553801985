"""Stretches: what the reader reads, token by token."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from transformers import AutoTokenizer

from generator.evidence import evidence_sentences
from generator.reader.stretch import Stretch, stretches
from indexing.encoder.tokenizer import load_tokenizer
from indexing.models.files import encoder_weights
from tests.generator.conftest import prose, span, transcript

MEETING = transcript(
    [
        ("Ada Park", "The ferry sails at nine. It is never late."),
        ("Ada Park", "Who paints it?"),
        ("Ben", "I do."),
    ]
)


@cache
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(encoder_weights().folder)


def text_of(stretch: Stretch) -> str:
    return str(tokenizer().decode(stretch.ids))


def test_a_speaker_stands_before_each_utterance_and_in_no_sentence() -> None:
    (stretch,) = stretches(
        load_tokenizer(encoder_weights().folder), "When?", evidence_sentences([span(MEETING)])
    )
    assert text_of(stretch) == (
        "[CLS] when? [SEP] ada park : the ferry sails at nine. it is never late. "
        "ada park : who paints it? ben : i do. [SEP]"
    )
    said = [tokenizer().decode(stretch.ids[a:b]) for a, b in stretch.places]
    assert said == ["the ferry sails at nine.", "it is never late.", "who paints it?", "i do."]
    assert tokenizer().decode(stretch.ids[: stretch.first]) == "[CLS] when? [SEP]"


def test_offsets_are_the_characters_of_each_token() -> None:
    sentences = evidence_sentences([span(MEETING)])
    (stretch,) = stretches(load_tokenizer(encoder_weights().folder), "When?", sentences)
    for (a, b), offsets in zip(stretch.places, stretch.offsets, strict=True):
        for token, (start, end) in zip(stretch.ids[a:b], offsets, strict=True):
            piece = str(tokenizer().convert_ids_to_tokens(token)).removeprefix("##")
            assert MEETING.text[start:end].lower() == piece


@pytest.mark.parametrize("words", [30, 400, 4_000])
def test_every_sentence_is_read_once_in_what_fits(words: int) -> None:
    document = prose(" ".join(f"Sentence {i} tells of thing {i * 7}." for i in range(words)))
    sentences = evidence_sentences([span(document)])
    found = stretches(load_tokenizer(encoder_weights().folder), "What?", sentences)
    assert max(len(one.ids) for one in found) <= 256
    assert sorted(i for one in found for i in one.sentences) == list(range(len(sentences)))


def test_a_sentence_without_end_is_cut_and_a_question_too() -> None:
    document = prose("word " * 3_000)
    (stretch,) = stretches(
        load_tokenizer(encoder_weights().folder), "why " * 500, evidence_sentences([span(document)])
    )
    assert len(stretch.ids) <= 256
    (place,) = stretch.places
    assert place[1] == len(stretch.ids) - 1


def test_documents_and_far_passages_are_not_joined() -> None:
    far = prose("One. " + " " * 500 + "\n\n" + "Two.", name="far")
    found = stretches(
        load_tokenizer(encoder_weights().folder),
        "?",
        evidence_sentences([span(MEETING), span(far)]),
    )
    assert len(found) == 3


def test_what_has_no_token_is_left_out() -> None:
    document = prose("\u200b\n\nWords.")
    sentences = evidence_sentences([span(document)])
    found = stretches(load_tokenizer(encoder_weights().folder), "?", sentences)
    assert [sentences[i].text for one in found for i in one.sentences] == ["Words."]
