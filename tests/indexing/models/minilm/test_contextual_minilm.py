"""`minilm-cope` is the packaged encoder with contextual positions, made from both files."""

from pathlib import Path

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import MissingDependency
from indexing.models.files import encoder_weights
from indexing.models.minilm import contextual_minilm
from indexing.models.minilm.contextual_minilm import CHANGES

TEXTS = (
    "The launch was moved from March to May because the supplier delivered late.",
    "Ada asked who would pay for the second prototype, and nobody answered.",
)


def test_it_is_near_the_packaged_encoder_and_reads_on_without_a_method(encoder: Encoder) -> None:
    """The file's own run measured 0.96 on texts of this length."""
    contextual = Encoder(
        EncoderSettings(model="minilm-cope", extension="none", max_length=400, dtype="float32")
    )
    wanted, found = (one.encode_queries(TEXTS) for one in (encoder, contextual))
    assert (wanted * found).sum(axis=1).min() > 0.9
    assert float(wanted[0] @ found[1]) < 0.5
    long = [" ".join(["the"] * 300 + [end]) for end in ("invoice", "violin")]
    one, other = contextual.encode_queries(long)
    assert not np.allclose(one, other, atol=1e-3)


def test_the_file_is_small() -> None:
    assert CHANGES.stat().st_size < 15e6


def test_an_old_transformers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    monkeypatch.setattr(contextual_minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'transformers>=5.4'"):
        encoder_weights("minilm-cope")
