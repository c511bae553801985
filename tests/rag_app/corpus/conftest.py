"""A small corpus for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from tests.rag_app.corpus.probes import TEXTS


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_documents(document(text, name=name) for name, text in TEXTS.items())
        yield corpus
