"""The database: what goes in comes out, all of it or nothing, and what damages it is said."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexing.change_detection import DocumentIdentity
from indexing.documents import Passage, Utterance, content_digest
from indexing.errors import (
    CorpusDamaged,
    CorpusError,
    CorpusLocked,
    CorpusNotFound,
    DocumentNotFound,
)
from indexing.store.file_states import FileState
from indexing.store.repair.verification import damaged_parts
from indexing.store.store import FILE_NAME, Store
from tests.indexing.store.drawn import FP, TEXT, document, encoded, passage_rows, passages, put
from tests.waiting import PATIENCE

# ---- what goes in comes out ----


def test_everything_comes_back(store: Store) -> None:
    put(store, "a" * 12)
    reopened = Store(store.folder)
    assert reopened.document("a" * 12) == document()
    assert reopened.passages_of("a" * 12) == passages()
    ((row, whole, parts),) = reopened.vectors()
    assert np.array_equal(whole, encoded(0).vector)
    assert np.array_equal(parts, encoded(0).passages)
    assert reopened.document_rows() == [
        (row, "a" * 12, document().path, document().part, document().title)
    ]
    (entry,) = reopened.entries()
    assert (entry.characters, entry.tokens, entry.passages) == (len(TEXT), 20, 2)
    assert (entry.words, entry.added) == (len(TEXT.split()), "now")
    assert reopened.fingerprint() == FP
    assert reopened.identities() == [
        DocumentIdentity(
            *(getattr(document(), name) for name in DocumentIdentity.__dataclass_fields__)
        )
    ]
    assert reopened.occasions.days() == {row: "2026-03-14"}
    assert reopened.occasions.people == {"Ana", "Łukasz"}


def test_a_speaker_gets_another_name_and_nothing_else_changes(store: Store) -> None:
    """Text, spans, rows, vectors and digest stay; the label is kept, and is there again later."""
    text = "S1: One two.\nS2: Three four five.\nS1: Six.\nBob: Seven eight nine ten."
    starts = [text.index(line) for line in text.split("\n")]
    ends = [*(at - 1 for at in starts[1:]), len(text)]
    labels = ("S1", "S2", "S1", "Bob")
    said = tuple(
        Utterance(a, b, a + len(label) + 2, label)
        for a, b, label in zip(starts, ends, labels, strict=True)
    )
    whole = replace(document(text=text), utterances=said, digest=content_digest(text, said, ()))
    spans = [Passage(0, ends[1], ("S2", "S1")), Passage(starts[2], len(text), ("Bob", "S1"))]
    store.put(replace(whole, pages=()), spans, encoded(0), added="now")
    before, rows = store.document("a" * 12), passage_rows(store)
    stamp = store.stamp
    store.name_speakers({"a" * 12: {"S1": "Bob", "S2": "Ada Park"}})
    after = store.document("a" * 12)
    assert [one.speaker for one in after.utterances] == ["Bob", "Ada Park", "Bob", "Bob"]
    assert [one.label for one in after.utterances] == list(labels)
    assert [one.passage.speakers for one in passage_rows(store)] == [("Ada Park", "Bob"), ("Bob",)]
    assert [one.row for one in passage_rows(store)] == [one.row for one in rows]
    assert content_digest(after.text, after.utterances, after.pages) == after.digest
    assert (after.text, after.breaks, after.digest) == (before.text, before.breaks, before.digest)
    assert store.stamp != stamp  # or search would go on with the old names
    assert damaged_parts(store.database, rows[0].document) == {}
    store.name_speakers({"a" * 12: {}})
    assert store.document("a" * 12) == before
    assert passage_rows(store) == rows
    with pytest.raises(DocumentNotFound):
        store.name_speakers({"b" * 12: {}})


def test_replacing_uses_new_rows(store: Store) -> None:
    put(store, "a" * 12, seed=1)
    put(store, "b" * 12, seed=2)
    before = {one.row for one in passage_rows(store)}
    put(store, "a" * 12, seed=3, text=TEXT + " More.")
    after = passage_rows(store)
    assert len(after) == 4 and len(before & {one.row for one in after}) == 2
    assert [entry.id[0] for entry in store.entries()] == ["b", "a"]
    vectors = [whole for _, whole, _ in store.vectors()]
    assert np.array_equal(vectors, [encoded(2).vector, encoded(3).vector])


def test_rows_are_never_used_again(store: Store) -> None:
    put(store, "a" * 12)
    rows = {one.row for one in passage_rows(store)}
    assert store.remove(["a" * 12]) == 1
    put(store, "b" * 12)
    assert not rows & {one.row for one in passage_rows(store)}


def test_removing_removes_all_of_it(store: Store) -> None:
    put(store, "a" * 12)
    put(store, "b" * 12)
    store.files.remember(document("a" * 12).path, FileState(1, 2))
    store.reencoding.put("a" * 12, encoded(5), replace(FP, revision="r2"))
    assert store.remove(["a" * 12, "never there", "a" * 12]) == 1
    with pytest.raises(DocumentNotFound):
        store.document("a" * 12)
    assert store.files.state(document("a" * 12).path) is None
    with closing(sqlite3.connect(store.path)) as database:
        for table, count in (("passages", 2), ("passage_vectors", 1), ("reencoded", 0)):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (count,)


def test_moving_keeps_everything_else(store: Store) -> None:
    put(store, "a" * 12)
    (old,) = store.identities()
    store.move(replace(old, path="/else/where.vtt", part="three", title="New"))
    moved = store.document("a" * 12)
    assert moved == replace(document(), path="/else/where.vtt", part="three", title="New")
    assert store.passages_of("a" * 12) == passages()


def test_a_document_without_passages_is_refused(store: Store) -> None:
    """Search counts on one at least."""
    with pytest.raises(AssertionError):
        store.put(document(), [], encoded(0, count=0), added="now")
    assert store.entries() == []


# ---- transactions ----


class _Broken(Exception):
    pass


class _Unlucky(list[Passage]):
    """Passages that break off after the first."""

    def __iter__(self) -> Iterator[Passage]:
        yield self[0]
        raise _Broken


@pytest.mark.parametrize("there", [False, True])
def test_a_failing_put_leaves_what_was(there: bool, store: Store) -> None:
    if there:
        put(store, "a" * 12, seed=1)
    generation, stamp, entries = store.generation, store.stamp, store.entries()
    changed = document(text=TEXT + " More.")
    with pytest.raises(_Broken):
        store.put(changed, _Unlucky(passages()), encoded(2), added="later")
    assert (store.generation, store.stamp, store.entries()) == (generation, stamp, entries)
    assert store.database.rows("PRAGMA integrity_check") == [("ok",)]
    put(store, "b" * 12)  # and the connection is free again
    assert len(store.entries()) == 1 + there


def test_a_reader_sees_one_moment(store: Store) -> None:
    put(store, "a" * 12)
    reader = Store(store.folder)
    with reader.reading():
        before = reader.entries(), reader.generation
        put(store, "b" * 12)
        store.remove(["a" * 12])
        with reader.reading():  # within one another, too
            assert (reader.entries(), reader.generation) == before
        assert reader.document("a" * 12) == document()
        assert len(list(reader.vectors())) == 1
    assert [entry.id for entry in reader.entries()] == ["b" * 12]


def test_threads_have_transactions_of_their_own(store: Store) -> None:
    put(store, "a" * 12)
    written, seen = threading.Event(), []

    def read() -> None:
        own = Store(store.folder)
        with own.reading():
            seen.append(len(own.entries()))
            written.wait(PATIENCE)
            seen.append(len(own.entries()))

    thread = threading.Thread(target=read)
    with store.reading():
        thread.start()
    while not seen:
        pass
    put(store, "b" * 12)
    written.set()
    thread.join()
    assert seen == [1, 1]


# ---- files that are no database ----


def test_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFound, match="rag-app index PATH"):
        Store(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "data", [b"garbage " * 4096, b"SQLite format 3\0" + bytes(range(256)) * 40]
)
def test_garbage_is_damaged(data: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(data)
    with pytest.raises(CorpusDamaged, match=r"not a sound database.*run rag-app index again"):
        Store(tmp_path).entries()
    assert (tmp_path / FILE_NAME).read_bytes() == data


def test_a_file_cut_short_is_damaged(store: Store) -> None:
    """Wherever the damage shows first."""
    for at in range(30):
        put(store, f"{at:012}", text=TEXT + "x" * 9000)
    store.close()
    whole = store.path.read_bytes()
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        store.path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(CorpusDamaged):
            cut = Store(store.folder)
            for _ in cut.texts():
                pass
            list(cut.vectors())
            cut.entries()


def test_a_foreign_database_is_damaged(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        database.execute("PRAGMA user_version = 1")
        database.execute("CREATE TABLE songs (name TEXT)")
    with pytest.raises(CorpusDamaged):
        Store(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CorpusError, match="cannot be made into a corpus folder"):
        Store(tmp_path / "file", create=True)
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(CorpusError, match="unable to open database file"):
        Store(tmp_path)


def test_another_program_that_holds_the_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexing.store.database.WAIT", 0.05)
    hurried = Store(store.folder)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CorpusLocked, match="try again"):
            put(hurried, "a" * 12)
        assert hurried.entries() == []  # reading goes on
        other.execute("ROLLBACK")
    put(hurried, "a" * 12)


def test_a_full_disk_is_not_called_damage(store: Store) -> None:
    put(store, "a" * 12)
    store.database.run("PRAGMA max_page_count = 1")  # the disk ends here
    with pytest.raises(CorpusError, match="full") as refused:
        put(store, "b" * 12, text=TEXT + "x" * 100_000)
    assert not isinstance(refused.value, CorpusDamaged)
    assert [entry.id for entry in store.entries()] == ["a" * 12]
