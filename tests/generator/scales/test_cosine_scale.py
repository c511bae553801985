"""Cosines of any encoder on the packaged one's scale: what thresholds see does not depend on it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generator.attribution.citer import attribute
from generator.evidence import Embed, Vectors, evidence_sentences, gather_evidence
from generator.extractive.abstention import relatedness
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.scales.cosine_scale import PACKAGED, CosineScale, Level, measure, scale_of
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.embedding_cache import EmbeddingCache

ANSWERED = (
    "What is the final launch date of Heron?",
    "Why was the budget cut?",
    "Who asked for a rubber case?",
    "How long is the probation period?",
    "What caused the outage?",
    "How much oxygen does the lake have?",
)
UNRELATED = (
    "Who composed the opera Fidelio?",
    "What is the boiling point of mercury?",
    "Which team won the 1998 world cup?",
    "How do I bake a sourdough bread?",
    "What is the capital of Mongolia?",
    "Who painted the Mona Lisa?",
)


def high(embed: Embed) -> Embed:
    """The same, but for a part that all vectors share: cosines from 0.7 to 1."""

    def embedded(texts: list[str]) -> Vectors:
        vectors = embed(texts)
        shared = np.full((len(vectors), 1), np.sqrt(0.73), np.float32)
        return np.concatenate([shared, np.sqrt(0.27) * vectors], axis=1).astype(np.float32)

    return embedded


def low(embed: Embed) -> Embed:
    """The same, but for a part that is each text's own: cosines of different texts up to 0.4."""

    def own(text: str) -> Vectors:
        seed = int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)
        drawn = np.random.default_rng(seed).standard_normal(4096)
        return np.asarray(drawn / np.linalg.norm(drawn), np.float32)

    def embedded(texts: list[str]) -> Vectors:
        added = np.stack([own(text) for text in texts])
        parts = [np.sqrt(0.42) * embed(texts), np.sqrt(0.58) * added]
        return np.concatenate(parts, axis=1).astype(np.float32)

    return embedded


@pytest.fixture(scope="module")
def plain(encoder: Encoder) -> Embed:
    return EmbeddingCache(encoder.encode_queries)


def test_the_packaged_scale_is_that_of_the_packaged_encoder(plain: Embed) -> None:
    scale = measure(plain)
    assert scale.sentences.unrelated == pytest.approx(PACKAGED.sentences.unrelated, abs=0.005)
    assert scale.sentences.related == pytest.approx(PACKAGED.sentences.related, abs=0.005)
    assert scale.words.unrelated == pytest.approx(PACKAGED.words.unrelated, abs=0.005)
    assert scale.words.related == pytest.approx(PACKAGED.words.related, abs=0.005)
    cosines = np.linspace(-1, 1, 9, dtype=np.float32)
    assert PACKAGED.of_sentences(cosines) is cosines


def test_means_go_to_the_packaged_ones_and_nothing_beyond_one() -> None:
    scale = CosineScale(Level(0.75, 0.84), Level(0.86, 0.93))
    found = scale.of_sentences(np.array([0.75, 0.84, 1.0, 0.70], np.float32))
    assert found[:3] == pytest.approx([0.0489, 0.4704, 1.0], abs=1e-4)
    assert found[3] < 0
    assert scale.of_words(np.array([0.93], np.float32)) == pytest.approx([0.7303], abs=1e-4)


@pytest.mark.parametrize("change", [high, low])
def test_questions_are_related_or_not_whatever_the_cosines(
    change: Callable[[Embed], Embed], plain: Embed, samples_corpus: Corpus
) -> None:
    other = change(plain)
    scale = measure(other)
    usual: list[bool] = []
    unscaled: list[bool] = []
    scaled: list[bool] = []
    for question in (*ANSWERED, *UNRELATED):
        hits = samples_corpus.search(question, k=3, passages=4)
        sentences = evidence_sentences(gather_evidence(hits, samples_corpus.document).passages)
        for found, words in (
            (usual, WordVectors(plain)),
            (unscaled, WordVectors(other)),
            (scaled, WordVectors(other, scale)),
        ):
            found.append(relatedness(SentenceFeatures.of(question, sentences, words)) > 0.5)
    assert all(usual[: len(ANSWERED)])
    assert not any(usual[len(ANSWERED) :])
    assert unscaled != usual
    assert scaled == usual


@pytest.mark.parametrize("change", [high, low])
def test_citations_are_verified_whatever_the_cosines(
    change: Callable[[Embed], Embed], plain: Embed, samples_corpus: Corpus
) -> None:
    other = change(plain)
    scale = measure(other)
    claims = {
        "Why was the budget cut?": "The budget was cut because of the warranty reserve.",
        "Who asked for a rubber case?": "Somebody asked for a case of rubber.",
        "What caused the outage?": "The outage was caused by a certificate that had expired.",
    }
    for question, claim in claims.items():
        hits = samples_corpus.search(question, k=3, passages=4)
        spans = gather_evidence(hits, samples_corpus.document).passages
        said = f"{spans[0].document.text[slice(*_first(spans))]} {claim}"
        usual = attribute(said, spans, plain, question=question)
        found = attribute(said, spans, other, question=question, scale=scale)
        assert [each.support for each in found.sentences] == [
            each.support for each in usual.sentences
        ]


def _first(spans: tuple[object, ...]) -> tuple[int, int]:
    sentence = evidence_sentences([spans[0]])[0]  # type: ignore[list-item]
    return sentence.start, sentence.end


def test_a_scale_is_measured_once_and_named_after_all_that_decides_it(
    plain: Embed, encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    calls: list[int] = []

    def counting(texts: list[str]) -> Vectors:
        calls.append(len(texts))
        return high(plain)(texts)

    fingerprint: Fingerprint = replace(encoder.fingerprint, model="another")
    first = scale_of(fingerprint, counting)
    assert first == scale_of(fingerprint, counting)
    assert len(calls) == 2
    scale_of(replace(fingerprint, revision="2"), counting)
    assert len(calls) == 4
    assert scale_of(encoder.fingerprint, counting) is PACKAGED


def test_an_encoder_that_separates_nothing_is_told(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    said: list[str] = []
    same = replace(encoder.fingerprint, model="constant")
    scale_of(same, lambda texts: np.ones((len(texts), 1), np.float32), notify=said.append)
    assert "no closer to its answer" in said[0]
