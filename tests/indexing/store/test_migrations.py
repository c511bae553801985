"""A database of every older format ends as a new one begins, and those of back then still open.

`corpora/format-N.zip` holds a corpus that the version of format N made, of three short documents.
"""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexing.documents import NO_OCCASION
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import CorpusTooNew
from indexing.store.derived.triggers import register
from indexing.store.migrations import MIGRATIONS
from indexing.store.repair.verification import verify
from indexing.store.store import FILE_NAME, Store

LAST = len(MIGRATIONS)


def made(folder: Path, *, version: int) -> Path:
    """A database of an older format, by the steps that were there at the time."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as database:
        register(database)
        database.execute("PRAGMA journal_mode = WAL")
        for step in MIGRATIONS[:version]:
            for statement in step:
                database.execute(statement)
        database.execute(f"PRAGMA user_version = {version}")
    return folder


def described(folder: Path) -> tuple[int, list[tuple[str, str]]]:
    """Format and schema of a database."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        schema = database.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL")
        return version, sorted(schema.fetchall())


@pytest.mark.parametrize("version", range(LAST + 1))
def test_opening_brings_a_database_up_to_date(version: int, tmp_path: Path) -> None:
    Store(tmp_path / "new", create=True).close()
    old = made(tmp_path / "old", version=version)
    Store(old, create=True).close()
    assert described(old) == described(tmp_path / "new")
    assert described(old)[0] == LAST


def test_a_later_format_is_left_alone(tmp_path: Path) -> None:
    later = made(tmp_path / "later", version=LAST)
    with closing(sqlite3.connect(later / FILE_NAME)) as database:
        database.execute(f"PRAGMA user_version = {LAST + 1}")
    before = (later / FILE_NAME).read_bytes()
    with pytest.raises(CorpusTooNew, match="pip install --upgrade rag-app"):
        Store(later)
    assert (later / FILE_NAME).read_bytes() == before


CORPORA = Path(__file__).parent / "corpora"
FIRST_WITH_COLLECTIONS = 5
FIRST_WITH_OCCASIONS = 6
NOTE = "The café opens at nine. 東京 \U0001f600"


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_a_corpus_of_back_then_opens(number: int, tmp_path: Path) -> None:
    """Its text, spans and vectors are there, and sound; and it takes a new document."""
    with zipfile.ZipFile(CORPORA / f"format-{number}.zip") as archive:
        archive.extractall(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (number,)
        texts = database.execute("SELECT text FROM documents ORDER BY row").fetchall()
        blobs = database.execute("SELECT vector FROM documents ORDER BY row").fetchall()
    store = Store(tmp_path)
    documents = [store.document(one.id) for one in store.identities()]
    assert [(one.text,) for one in documents] == texts
    assert [one.title for one in documents] == ["kickoff", "review", "note"]
    assert documents[2].text == NOTE
    assert [one.label for one in documents[0].utterances] == ["Ana", "Bob", "Ana"]
    assert [(whole.tobytes(),) for _, whole, _ in store.vectors()] == blobs
    assert verify(store.database) == []
    held = {
        one.name: [each.title for each in store.of(one.name).identities()]
        for one in store.collections.all()
    }
    if number < FIRST_WITH_COLLECTIONS:
        assert held == {"default": ["kickoff", "review", "note"]}
    else:
        assert held == {"default": ["kickoff", "review"], "Ana's": ["kickoff", "note"]}
        assert store.collections.named("Ana's").owner == "ana"
    seen = [bool(store.files.state(one.path)) for one in documents[:2]]
    if number < FIRST_WITH_OCCASIONS:  # files are read again, for only they have dates
        assert seen == [False, False]
        assert [one.occasion for one in documents] == [NO_OCCASION] * 3
    else:
        assert seen == [True, False]
        assert [one.occasion.day for one in documents] == ["2026-03-14", "", ""]
        assert documents[0].speaker_names == {"Bob": "Bob Stone"}
    fingerprint = store.fingerprint()
    assert fingerprint is not None and fingerprint.dimension == 384
    vectors = np.eye(384, dtype=np.float32)
    store.put(
        replace(documents[2], id="b" * 12, path="another"),
        store.passages_of(documents[2].id),
        EncodedDocument(vectors[0], vectors[:1], 9, 9),
        added="now",
    )
    assert verify(store.database) == []
    store.close()
