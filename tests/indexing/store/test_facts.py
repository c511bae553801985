"""What salvage copies of dates and names: what is sound, and nothing else."""

from __future__ import annotations

from pathlib import Path

from indexing.documents import Document, Occasion, Passage, Utterance, content_digest
from indexing.encoder.pooling import EncodedDocument
from indexing.store.repair.salvage import salvage
from indexing.store.repair.verification import verify
from indexing.store.store import FILE_NAME, Store
from tests.indexing.store.repair.test_verification import FP, SPOKEN, TEXT, UNIT


def put(store: Store, id_: str, occasion: Occasion) -> None:
    said = tuple(Utterance(u.start, u.end, u.text_start, u.speaker, u.time) for u in SPOKEN)
    digest = content_digest(TEXT, said, ())
    document = Document(id_, f"/{id_}", "", id_, "txt", digest, TEXT, said, occasion=occasion)
    passages = [Passage(0, len(TEXT), ("Ana", "Bob"))]
    store.put(document, passages, EncodedDocument(UNIT[0], UNIT[:1], 9, 9), added="now")


def test_salvage_copies_what_is_sound(tmp_path: Path) -> None:
    store = Store(tmp_path / "old", create=True)
    store.set_fingerprint(FP)
    dated = Occasion("2026-03-14", "file name", ("Ana", "東京"), "first lines")
    for letter in "ab":
        put(store, letter * 12, dated)
        store.name_speakers({letter * 12: {"Bob": "Rob"}})
    store.database.run("UPDATE facts SET value = replace(value, '14', '15') WHERE document = 2")
    (tmp_path / "new").mkdir()
    assert salvage(store.database, tmp_path / "new" / FILE_NAME) == []
    new = Store(tmp_path / "new")
    assert new.document("a" * 12) == store.document("a" * 12)
    assert not new.document("b" * 12).occasion
    assert new.document("b" * 12).speakers == ("Ana", "Rob")
    assert verify(new.database) == []
