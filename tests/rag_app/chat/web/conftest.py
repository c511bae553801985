"""The corpus that is served, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generator.answer import Answer
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.programs import QUESTION


@pytest.fixture(scope="module")
def corpus(served: Served) -> Iterator[Corpus]:
    with Corpus(served.folder) as corpus:
        yield corpus


@pytest.fixture(scope="module")
def expected(corpus: Corpus) -> Answer:
    return corpus.ask(QUESTION)
