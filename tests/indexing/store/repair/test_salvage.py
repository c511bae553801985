"""What is sound is copied as it is; what can be encoded again is named."""

from __future__ import annotations

from pathlib import Path

from indexing.store.repair.salvage import salvage
from indexing.store.repair.verification import verify
from indexing.store.store import FILE_NAME, Store
from tests.indexing.store.repair.test_verification import FP, OF_B, B, put


def test_sound_documents_are_copied(tmp_path: Path) -> None:
    store = Store(tmp_path / "old", create=True)
    store.set_fingerprint(FP)
    for letter in "abcd":
        put(store, letter * 12)
    kept = {id_ * 12: store.document(id_ * 12) for id_ in "acd"}
    vectors = {row: whole.tobytes() for row, whole, _ in store.vectors()}
    store.database.run(f"UPDATE documents SET text = 'gone' {B}")
    store.database.run(
        f"UPDATE passage_vectors SET vectors = x'' {OF_B.replace('b' * 12, 'd' * 12)}"
    )
    (tmp_path / "new").mkdir()
    (record,) = salvage(store.database, tmp_path / "new" / FILE_NAME)
    assert (record.document, record.added) == (kept.pop("d" * 12), "now")
    new = Store(tmp_path / "new")
    assert {one.id: new.document(one.id) for one in new.identities()} == kept
    assert {row: whole.tobytes() for row, whole, _ in new.vectors()}.items() <= vectors.items()
    assert verify(new.database) == []
    assert new.generation > store.generation
    assert new.fingerprint() == FP


def test_without_a_fingerprint_all_is_encoded_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "old", create=True)
    store.set_fingerprint(FP)
    put(store, "a" * 12)
    store.database.run("UPDATE meta SET value = '' WHERE key = 'recipe'")
    (tmp_path / "new").mkdir()
    (record,) = salvage(store.database, tmp_path / "new" / FILE_NAME)
    assert record.document.id == "a" * 12
    new = Store(tmp_path / "new")
    assert (new.fingerprint(), new.identities()) == (None, [])
