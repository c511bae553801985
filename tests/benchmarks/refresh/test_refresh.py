"""A short form of `python -m benchmarks refresh`: what changed is asked, no verdict is wrong."""

from __future__ import annotations

from benchmarks.refresh import measure
from indexing.encoder.encoder import Encoder


def test_a_few_edited_documents(encoder: Encoder) -> None:
    done = measure(16, 8, 0.5, 3, encoder)
    assert done.wrong == 0 and done.missed == ()
    assert 0 < done.again <= 2 * (done.words + done.places)
