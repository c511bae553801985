"""A reader by name: the packaged one's words, saved as a model for question answering."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from generator.evidence import evidence_sentences
from generator.reader.reading import UNREAD, Reader
from generator.reader.reading_scale import PACKAGED, measure
from generator.reader.span_reader import SpanReader
from indexing.errors import UnsupportedModel
from tests.generator.conftest import prose, span, transcript
from tests.small_models import save_random, save_reader

MEETING = transcript(
    [
        ("Ada Park", "Good morning. The budget for the field trial is 12,500 euros."),
        ("Ben", "And the ferry sails at a quarter to nine from the north pier."),
    ]
)
QUESTION = "How much is the budget for the field trial?"


@pytest.fixture(scope="module")
def named() -> Iterator[SpanReader]:
    with tempfile.TemporaryDirectory() as folder:
        yield SpanReader(str(save_reader(Path(folder) / "reader")))


def test_words_are_those_of_the_same_weights_in_the_packaged_reader(named: SpanReader) -> None:
    sentences = evidence_sentences([span(MEETING)])
    found = named.read_unscaled(QUESTION, sentences)
    expected = Reader(dtype=torch.float32).read(QUESTION, sentences)
    best = int(found.spans.argmax())
    assert best == int(expected.spans.argmax())
    words, others = found.words[best], expected.words[best]
    assert words is not None
    assert others is not None
    assert MEETING.text[words.start : words.end] == MEETING.text[others.start : others.end]
    assert words.score == pytest.approx(others.score, abs=2.0)  # bfloat16, blanks after labels


def test_its_scale_becomes_the_packaged_readers(named: SpanReader) -> None:
    scale = measure(named.read)
    for name in ("relevance", "words", "answerable"):
        level, packaged = getattr(scale, name), getattr(PACKAGED, name)
        assert level.unrelated == pytest.approx(packaged.unrelated, abs=0.05)
        assert level.related == pytest.approx(packaged.related, abs=0.05)


def test_the_packaged_scale_is_that_of_the_reader_that_ships() -> None:
    scale = measure(Reader(dtype=torch.float32).read)
    for name in ("relevance", "words", "answerable"):
        level, packaged = getattr(scale, name), getattr(PACKAGED, name)
        assert (level.unrelated, level.related) == pytest.approx(
            (packaged.unrelated, packaged.related), abs=0.02
        )


def test_a_random_model_reads_every_sentence(tmp_path: Path) -> None:
    labels = ("start", "end")
    folder = save_random(tmp_path / "model", "BertForQuestionAnswering", labels)
    reader = SpanReader(str(folder))
    text = " ".join(f"Sentence number {i} is about the lake." for i in range(90))
    sentences = evidence_sentences([span(prose(text)), span(MEETING)])
    reading = reader.read_unscaled(QUESTION, sentences)
    assert (reading.spans > UNREAD).all()
    assert np.array_equal(reading.relevance, reading.spans)
    for words, sentence in zip(reading.words, sentences, strict=True):
        assert words is not None
        assert sentence.start <= words.start < words.end <= sentence.end
    assert reader.read_unscaled(QUESTION, []).words == ()


def test_a_model_for_something_else_is_refused(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForTokenClassification", ("a", "b"))
    sentences = evidence_sentences([span(MEETING)])
    with pytest.raises(UnsupportedModel, match="model for question answering"):
        SpanReader(str(folder)).read(QUESTION, sentences)
    folder = save_random(tmp_path / "one", "BertForQuestionAnswering")
    with pytest.raises(UnsupportedModel, match="not a start and an end"):
        SpanReader(str(folder)).read(QUESTION, sentences)
