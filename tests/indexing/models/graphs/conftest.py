"""A graph that is not in the cache yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.models.graphs.graph import GraphName


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GraphName:
    """Its name, in a cache of its own."""
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    weights = tmp_path / "weights.safetensors"
    weights.write_bytes(b"weights")
    return GraphName("org/model", [weights])
