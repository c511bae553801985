"""Blobs stay as long as a document names them, and a damaged one is none."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from indexing.documents import Document, Figure, Passage, content_digest
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import DocumentNotFound
from indexing.ocr.reading import Line, PictureReading
from indexing.store.repair.salvage import salvage
from indexing.store.repair.verification import verify
from indexing.store.store import FILE_NAME, Store
from tests.indexing.store.repair.test_verification import FP, UNIT

DATA = b"\x89PNG of a chart"
CHART = Figure(0, 40, 30, "image/png", "Figure 1", 1, sha256(DATA).hexdigest(), DATA)
READING = PictureReading((Line(0.1, 0.2, 0.9, 0.25, "Wages rose", 0.97),), "engine 1").pack()


def put(store: Store, id_: str) -> None:
    text = f"Words of {id_}"
    document = Document(id_, f"/{id_}", "", id_, "pdf", content_digest(text, (), ()), text)
    encoded = EncodedDocument(UNIT[0], UNIT[:1], 9, 9)
    store.put(document, [Passage(0, len(text))], encoded, added="now")
    readings = store.pictures.readings()
    readings[f"{id_}-page"] = READING
    store.pictures.put(id_, [CHART], tuple(readings.used))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "corpus", create=True)
    made.set_fingerprint(FP)
    put(made, "a" * 12)
    put(made, "b" * 12)
    return made


def test_they_go_with_the_last_document_that_names_them(store: Store) -> None:
    a, b = "a" * 12, "b" * 12
    assert store.pictures.figure(a, CHART.key) == DATA and store.document(a).figures == (CHART,)
    assert store.pictures.figures(a)[0].data == DATA
    assert PictureReading.unpack(store.pictures.readings()[f"{a}-page"]).confidence == 0.97
    store.remove([a])
    assert f"{a}-page" not in store.pictures.readings()
    assert store.pictures.figure(b, CHART.key) == DATA
    store.remove([b])
    assert store.blobs.get(CHART.key) is None and store.blobs.get(f"{b}-page") is None
    with pytest.raises(DocumentNotFound):
        store.pictures.figure(b, CHART.key)


def test_a_figure_is_only_given_out_for_its_own_document(store: Store) -> None:
    store.pictures.put("b" * 12, [], ())
    with pytest.raises(DocumentNotFound):
        store.pictures.figure("b" * 12, CHART.key)


def test_a_damaged_one_is_none_is_told_and_goes(store: Store, tmp_path: Path) -> None:
    store.database.run(
        "UPDATE blobs SET value = CAST('changed' AS BLOB) WHERE key = ?", [CHART.key]
    )
    assert store.blobs.get(CHART.key) is None and store.pictures.figures("a" * 12) == []
    (damage,) = verify(store.database)
    assert str(damage).startswith("facts: 1 of the figures and readings")
    (tmp_path / "new").mkdir()
    assert salvage(store.database, tmp_path / "new" / FILE_NAME) == []
    new = Store(tmp_path / "new")
    assert new.pictures.readings()["a" * 12 + "-page"] == READING and verify(new.database) == []
    store.repair_facts()
    assert verify(store.database) == []
