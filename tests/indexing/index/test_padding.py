"""Windows over passages with empty places between documents, against loops."""

from __future__ import annotations

import numpy as np
import pytest

from indexing.index import padding
from indexing.index.padding import Padding


@pytest.mark.parametrize("chunk", [1, 50, 10_000])
@pytest.mark.parametrize("reach", [0, 1, 3])
def test_windows_end_where_documents_do(
    reach: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(padding, "CHUNK", chunk)
    draw = np.random.default_rng(0)
    scores = [draw.random(length).astype(np.float32) for length in draw.integers(1, 9, 60)]
    expected = [
        [own[max(0, at - reach) : at + reach + 1].sum() for at in range(len(own))] for own in scores
    ]
    owner = np.repeat(np.arange(60), [len(own) for own in scores])
    padded = Padding.of(np.searchsorted(owner, np.arange(60)), len(owner))
    row = padded.row(np.concatenate(scores))
    found = padded.window_sums(np.concatenate(scores), reach)
    np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-5)
    for each in padded.chunks:
        sums = each.window_sums(row, reach)
        here = padded.places[np.isin(owner, np.arange(60)[each.documents])]
        np.testing.assert_allclose(sums[here - each.start], found[padded.places.searchsorted(here)])
    assert len(padded.chunks) == 1 if chunk > 50 else len(padded.chunks) > 5
    if 2 * reach > padding.REACH:
        return
    best = padded.best(row, reach)
    np.testing.assert_allclose(best, [max(own) for own in expected], atol=1e-5)
    counts = draw.random(len(owner)) < 0.5
    best = padded.best(row, reach, counting=padded.row(counts.astype(np.float32)))
    some = np.where(counts, np.concatenate(expected), 0)
    np.testing.assert_allclose(best, [some[owner == own].max() for own in range(60)], atol=1e-5)
