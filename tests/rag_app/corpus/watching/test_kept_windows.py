"""Vectors of a text that grows are those of the text encoded at once."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from indexing.encoder.encoder import Encoder, FloatArray
from indexing.files import document
from indexing.text.chunking import split
from rag_app.corpus.watching.kept_windows import KeptWindows

TEXT = "the committee met in Ellmere and agreed. Prices of probes fell. titanium rose"


def test_of_a_text_that_grows_only_the_last_windows_are_run(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, forward, runs = random.Random(1), encoder._forward, list[int]()
    whole = [draw.choice(TEXT.split()) for _ in range(9000)]

    def run(ids: npt.NDArray[np.int64], skip: int) -> tuple[FloatArray, FloatArray]:
        runs.append(len(ids))
        return forward(ids, skip)

    kept = KeptWindows(most=200)
    for words, new in ((300, None), (3000, None), (3010, 2), (3010, 0), (2900, 1), (9000, None)):
        text = document(" ".join(whole[:words]), name="text")
        one = text, split(text)
        (expected,) = encoder.encode([one])
        with monkeypatch.context() as patch:
            patch.setattr(encoder, "_forward", run)
            patch.setattr(encoder, "kept", kept)
            runs.clear()
            (found,) = encoder.encode([one])
        np.testing.assert_allclose(found.vector, expected.vector, atol=1e-5)
        np.testing.assert_allclose(found.passages, expected.passages, atol=1e-5)
        assert new is None or sum(runs) <= new
