"""An empty store for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.store.store import Store
from tests.indexing.store.drawn import FP


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "corpus", create=True)
    store.set_fingerprint(FP)
    return store
