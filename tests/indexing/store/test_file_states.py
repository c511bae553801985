"""Files as they were when last read whole, for each collection."""

from __future__ import annotations

from indexing.store.file_states import FileState
from indexing.store.store import Store


def test_each_collection_has_states_of_its_own(store: Store) -> None:
    store.files.remember("/a", FileState(1, 2))
    store.files.remember("/a", FileState(3, 4), collection="Ana's")
    store.files.remember("/b", FileState(5, 6), collection="Ana's")
    assert store.files.states() == {"/a": FileState(1, 2)}
    assert store.files.states(collection="Ana's") == {
        "/a": FileState(3, 4),
        "/b": FileState(5, 6),
    }
    assert store.files.state("/b") is None
    assert store.files.states(collection="Bob's") == {}
