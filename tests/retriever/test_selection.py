"""A selection is of whole documents."""

from __future__ import annotations

import numpy as np

from retriever.selection import Selection


def test_a_selection_is_whole_documents() -> None:
    chosen = Selection.of(np.array([2, 0]), np.array([0, 3, 4, 9]))
    assert chosen.passages.tolist() == [4, 5, 6, 7, 8, 0, 1, 2]
    assert chosen.owner.tolist() == [0] * 5 + [1] * 3
    assert chosen.starts.tolist() == [0, 5]
