"""The real encoder, loaded once, and the sample documents, indexed once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder import Encoder, EncoderSettings
from rag_app.corpus import Corpus

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """MiniLM in float32, for comparisons to the last digits; windows of 64 tokens, for many."""
    return Encoder(EncoderSettings(dtype="float32", max_length=64))


@pytest.fixture(scope="session")
def samples_corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """The documents of data/samples, to be searched and asked; not to be changed."""
    with Corpus(tmp_path_factory.mktemp("samples") / "corpus") as corpus:
        corpus.add(file for file in SAMPLES.iterdir() if file.name != "questions.jsonl")
        yield corpus
