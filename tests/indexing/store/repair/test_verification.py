"""Each way in which a row can be wrong is noticed, and its document named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexing.documents import NO_OCCASION, Document, Occasion, Passage, Utterance, content_digest
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import CorpusDamaged
from indexing.store.repair.verification import verify
from indexing.store.store import Store

FP = Fingerprint("model", "r1", "pcw", 64, "mean", "float32", 4)
TEXT = "Ana: Zoë saw 東京 twice.\nBob: A probe, no more."
SPOKEN = (Utterance(0, 23, 5, "Ana", 1.5), Utterance(24, len(TEXT), 29, "Bob"))
UNIT = np.eye(4, dtype=np.float32)


def put(store: Store, id_: str) -> None:
    document = Document(
        id=id_,
        path=f"/notes/{id_}",
        part="",
        title="a title",
        format="txt",
        digest=content_digest(TEXT, SPOKEN, ()),
        text=TEXT,
        utterances=SPOKEN,
    )
    passages = [Passage(0, 23, ("Ana",), 1.5), Passage(24, len(TEXT), ("Bob",))]
    store.put(document, passages, EncodedDocument(UNIT[0], UNIT[:2], 9, 9), added="now")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, create=True)
    store.set_fingerprint(FP)
    for letter in "abc":
        put(store, letter * 12)
    return store


B = "WHERE id = 'bbbbbbbbbbbb'"
OF_B = "WHERE document = (SELECT row FROM documents WHERE id = 'bbbbbbbbbbbb')"
RESEAL = "INSERT OR REPLACE INTO checksums SELECT * FROM current_checksums"


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        (f"UPDATE documents SET text = replace(text, 'twice', 'thrice') {B}", ("record",)),
        (f"UPDATE documents SET title = 'another' {B}", ("record",)),
        (f"UPDATE documents SET turns = '[' {B}", ("record",)),
        (f"UPDATE documents SET words = 8 {B}", ("record",)),
        (f"UPDATE documents SET metadata = '{{}}' {B}", ("record",)),
        (f"UPDATE passages SET start = start + 1 {OF_B}", ("passages",)),
        (f"UPDATE passages SET time = 1.6 {OF_B}", ("passages",)),
        (f"UPDATE passages SET speakers = '[\"Eve\"]' {OF_B}", ("passages",)),
        (f"DELETE FROM passages {OF_B} AND start = 0", ("passages", "vectors")),
        (f"UPDATE documents SET vector = zeroblob(16) {B}", ("vectors",)),
        (f"UPDATE passage_vectors SET vectors = zeroblob(32) {OF_B}", ("vectors",)),
        (f"DELETE FROM passage_vectors {OF_B}", ("vectors",)),
        (f"DELETE FROM checksums {OF_B}", ("record", "passages", "vectors")),
    ],
)
def test_a_change_is_noticed(statement: str, parts: tuple[str, ...], store: Store) -> None:
    assert verify(store.database) == []
    store.database.run(statement)
    (damage,) = verify(store.database)
    assert (damage.what, damage.document, damage.path) == (
        "document",
        "b" * 12,
        f"/notes/{'b' * 12}",
    )
    assert damage.parts == parts


def test_a_damaged_date_or_name_is_noticed_and_takes_no_document_away(store: Store) -> None:
    store.move(replace(store.identities()[0], occasion=Occasion("2026-03-14", "file name")))
    store.name_speakers({"b" * 12: {"Bob": "Rob", "Ana": "Anne"}})
    sound = store.document("c" * 12)
    store.database.run(
        "UPDATE facts SET value = replace(replace(value, '14', '15'), 'Rob', 'Rod')"
        " WHERE name != 'listed'"
    )
    (damage,) = verify(store.database)
    assert str(damage).startswith("facts: 2 of the facts")
    store.repair_facts()
    assert verify(store.database) == []
    assert store.document("a" * 12).occasion == NO_OCCASION
    assert store.document("b" * 12).speakers == ("Ana", "Bob")
    assert [one.speakers for one in store.passages_of("b" * 12)] == [("Ana",), ("Bob",)]
    assert store.document("c" * 12) == sound


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (f"UPDATE documents SET text = text || ' more' {B}", "digest"),
        (f"UPDATE documents SET turns = '[[0, 99, 5, null, null]]' {B}", "outside the text"),
        (f'UPDATE passages SET "end" = 99 {OF_B} AND start = 24', "outside the text"),
        (f"UPDATE passages SET start = 23 {OF_B} AND start = 0", "outside the text"),
        (f"UPDATE documents SET vector = x'0000803f' {B}", "not 4"),
        (f"UPDATE passage_vectors SET vectors = zeroblob(16) {OF_B}", "not as many vectors"),
        (f"UPDATE documents SET vector = x'{'0000003f' * 3}00000000' {B}", "unit length"),
        (f"UPDATE documents SET vector = x'{'0000c07f' * 4}' {B}", "unit length"),
    ],
)
def test_what_makes_no_sense_is_noticed_in_spite_of_checksums(
    statement: str, reason: str, store: Store
) -> None:
    store.database.run(statement)
    store.database.run(RESEAL)
    (damage,) = verify(store.database)
    assert damage.document == "b" * 12
    assert reason in str(damage)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = replace(value, '64', '65') WHERE key = 'recipe'",
        "DELETE FROM meta WHERE key = 'recipe'",
        "DELETE FROM meta WHERE key IN ('recipe', 'recipe_checksum')",
        "UPDATE meta SET value = 'many' WHERE key = 'generation'",
        "DELETE FROM meta WHERE key = 'stamp'",
        "DROP INDEX documents_by_path",
    ],
)
def test_every_opening_looks_at_what_takes_no_time(statement: str, store: Store) -> None:
    store.database.run(statement)
    store.close()
    with pytest.raises(CorpusDamaged, match="rag-app verify --repair"):
        Store(store.folder)
    assert verify(Store(store.folder, check=False).database)


def test_row_numbers_that_would_be_used_again(store: Store) -> None:
    store.database.run("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'passages'")
    (damage,) = verify(store.database)
    assert damage.what == "database" and "used again" in damage.reason


def test_a_document_without_its_rows(store: Store) -> None:
    store.database.run("PRAGMA foreign_keys = OFF")
    store.database.run(f"DELETE FROM documents {B}")
    damages = verify(store.database)
    assert {one.what for one in damages} == {"database", "document"}


def test_every_writer_keeps_the_checksums(store: Store) -> None:
    """Moved, removed and encoded again: still as it was written."""
    identity = store.identities()[0]
    store.move(replace(identity, path="/elsewhere", title="moved"))
    store.name_speakers({"b" * 12: {"Ana": "Anne"}})
    store.remove(["c" * 12])
    assert verify(store.database) == []
    other = replace(FP, revision="r2")
    for id_ in store.reencoding.pending(other):
        store.reencoding.put(id_, EncodedDocument(UNIT[2], UNIT[2:], 9, 9), other)
    assert store.reencoding.pending(other) == []
    store.database.run("UPDATE reencoded SET vector = zeroblob(16) WHERE document = 2")
    assert store.reencoding.pending(other) == ["b" * 12]  # damaged before it was adopted
    store.reencoding.put("b" * 12, EncodedDocument(UNIT[2], UNIT[2:], 9, 9), other)
    store.reencoding.adopt(other)
    assert verify(store.database) == []
    assert store.fingerprint() == other


def test_a_text_is_not_measured_again_for_each_passage(tmp_path: Path) -> None:
    """A text of 100 MB has tens of thousands of passages: after twenty minutes it was not done."""
    store, measured = Store(tmp_path, create=True), list[int]()
    store.set_fingerprint(FP)
    text = "Why? " * 200
    document = Document("a" * 12, "/notes/a", "", "a", "txt", content_digest(text, (), ()), text)
    passages = [Passage(5 * number, 5 * number + 4) for number in range(200)]
    vectors = np.repeat(UNIT[:1], 200, axis=0)
    store.put(document, passages, EncodedDocument(UNIT[0], vectors, 9, 9), added="now")

    def length(value: str | bytes | None) -> int | None:
        measured.append(len(value or ""))
        return None if value is None else len(value)

    store.database._connection.create_function("length", 1, length)
    assert verify(store.database) == []
    assert 1 <= sum(size == len(text) for size in measured) < 10
