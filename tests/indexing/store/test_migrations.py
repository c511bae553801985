"""A database of every older format ends as a new one begins."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from indexing.errors import CorpusTooNew
from indexing.store.migrations import MIGRATIONS
from indexing.store.store import FILE_NAME, Store

LAST = len(MIGRATIONS)


def made(folder: Path, *, version: int) -> Path:
    """A database of an older format, by the steps that were there at the time."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as database:
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
