"""Two small meetings, one loaded encoder, and a cache of their own for every test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from tests.own_cache import use_own_cache
from tests.rag_app.laboratory.evaluation.evaluation_meetings import meeting, query


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_cache(tmp_path / "cache", monkeypatch)


@pytest.fixture(scope="session")
def settings() -> EncoderSettings:
    """The first 32 tokens only: what is measured here is arithmetic, not the model."""
    return EncoderSettings(extension="none", max_length=32)


@pytest.fixture(scope="session")
def encoder(settings: EncoderSettings) -> Encoder:
    return Encoder(settings)


@pytest.fixture(scope="session")
def meetings_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two meetings. What their questions ask for is worked out in test_evidence_values."""
    alpha = meeting(
        "alpha",
        general_query_list=[query("Summarize.", "alpha3word7 and alpha4word8.")],
        specific_query_list=[
            query("Where is alpha3word5?", "It is alpha3word5.", (3, 3), (17, 17)),
            query("Where is alpha19word5?", "It is alpha19word5.", (14, 14)),
        ],
    )
    beta = meeting(
        "beta",
        specific_query_list=[
            query("Where is beta5word9?", "It is beta5word9.", (5, 5), (0, 0)),
            query("Where is beta6word9?", "It is alpha3word5."),
        ],
    )
    path = tmp_path_factory.mktemp("qmsum") / "two.jsonl"
    path.write_text(f"{json.dumps(alpha)}\n{json.dumps(beta)}\n", "utf-8")
    return path
