"""Tiny models of every family, and their oracles, built once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from sentence_transformers import SentenceTransformer

from tests.indexing.extension.extension_models import CONFIGS, build
from tests.indexing.extension.extension_oracle import Oracle


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SentenceTransformer]:
    return {family: build(family, tmp_path_factory.mktemp(family)) for family in CONFIGS}


@pytest.fixture(scope="session")
def oracles(models: dict[str, SentenceTransformer]) -> dict[str, Oracle]:
    return {family: Oracle(model[0].auto_model) for family, model in models.items()}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Tiny matrices are slower on many threads."""
    kept = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(kept)
