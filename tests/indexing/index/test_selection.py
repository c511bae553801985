"""A selection is of whole documents, whose passages have the neighbours that they have there."""

from __future__ import annotations

import numpy as np
import pytest

from indexing.index.selection import Selection


def test_a_selection_is_whole_documents() -> None:
    chosen = Selection.of(np.array([2, 0]), np.array([0, 3, 4, 9]))
    assert chosen.passages.tolist() == [4, 5, 6, 7, 8, 0, 1, 2]
    assert chosen.owner.tolist() == [0] * 5 + [1] * 3
    assert chosen.starts.tolist() == [0, 5]
    scores = np.array([1, 2, 3, 4, 5, -6, 7, 9], np.float32)
    assert chosen.means(scores, 0).tolist() == scores.tolist()
    assert chosen.means(scores, 1) * 3 == pytest.approx([3, 6, 9, 12, 9, 1, 10, 16])
    assert chosen.means(scores, 3) * 7 == pytest.approx([10, 15, 15, 15, 14, 10, 10, 10])
