"""Vectors of another fingerprint replace all others at once."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from indexing.store.store import Store
from tests.indexing.store.drawn import FP, encoded, put


def test_new_vectors_become_the_ones_all_at_once(store: Store) -> None:
    for at, id_ in enumerate(("a" * 12, "b" * 12)):
        put(store, id_, seed=at)
    second, third = replace(FP, revision="r2"), replace(FP, revision="r3")
    store.reencoding.put("a" * 12, encoded(10), second)
    assert store.reencoding.pending(second) == ["b" * 12]
    both = ["a" * 12, "b" * 12]
    assert store.reencoding.pending(third) == both  # another fingerprint starts again
    assert np.array_equal(next(store.vectors())[1], encoded(0).vector)
    with pytest.raises(sqlite3.IntegrityError):  # one of them has no new vectors yet
        store.reencoding.adopt(second)
    assert store.fingerprint() == FP
    store.reencoding.put("b" * 12, encoded(11), second)
    store.reencoding.adopt(second)
    assert store.fingerprint() == second
    for (_, whole, parts), seed in zip(store.vectors(), (10, 11), strict=True):
        assert np.array_equal(whole, encoded(seed).vector)
        assert np.array_equal(parts, encoded(seed).passages)
    assert store.reencoding.pending(second) == ["a" * 12, "b" * 12]  # nothing is kept beside them
