"""`minilm-cope` is the packaged encoder with contextual positions, made from both files."""

import numpy as np

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.models.minilm.contextual_minilm import CONTEXTUAL

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
    assert CONTEXTUAL.changes.stat().st_size < 15e6
