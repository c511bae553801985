"""What is read of a store: rows, spans, speakers, vectors."""

from __future__ import annotations

import numpy as np
import pytest

from indexing.errors import (
    CorpusDamaged,
    DocumentNotFound,
)
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from tests.indexing.store.drawn import TEXT, document, encoded, passage_rows, passages, put


def test_passages_are_cut_by_characters(store: Store) -> None:
    """SQLite counts characters, not bytes, beyond the basic plane too."""
    put(store, "a" * 12)
    rows = [one.row for one in passage_rows(store)]
    found = store.passages_at(rows[::-1])
    assert [text for _, text in found] == [TEXT[26:], TEXT[:25]]
    assert [passage for passage, _ in found] == passages()[::-1]


def test_a_row_that_an_index_names_and_that_is_not_there_is_damage(store: Store) -> None:
    put(store, "a" * 12)
    for rows_at in (store.documents_at, store.passages_at):
        with pytest.raises(CorpusDamaged, match="verify --repair"):
            rows_at([1, 99])


def test_speakers_are_found_by_part_of_a_name(store: Store) -> None:
    put(store, "a" * 12)
    snapshot = Snapshot.build(store)
    for name in ("ana", "ŁUKASZ", "kas"):
        assert snapshot.spoken_by(name).tolist() == [True, False]
    for name in ("Bob", '"'):
        assert not snapshot.spoken_by(name).any()


def test_vectors_of_one_documents_passages(store: Store) -> None:
    store.put(document(), passages(), encoded(1), added="now")
    store.put(document("b" * 12, text=f"{TEXT}!"), passages(), encoded(2), added="now")
    assert np.array_equal(store.passage_vectors_of("b" * 12), encoded(2).passages)
    with pytest.raises(DocumentNotFound, match="no such document"):
        store.passage_vectors_of("c" * 12)
