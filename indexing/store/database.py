"""One SQLite file in WAL mode: transactions, numbered migrations, and SQLite's errors as ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indexing.errors import CorpusDamaged, CorpusError, CorpusLocked, CorpusTooNew
from indexing.store.migrations import MIGRATIONS

WAIT = 30  # seconds for another connection's transaction, a matter of milliseconds as a rule

# Primary result codes (sqlite.org/rescode.html) that are no damage to the file.
_HELD = ("SQLITE_BUSY", "SQLITE_LOCKED")
_OUTSIDE = (
    *("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN"),
    *("SQLITE_PERM", "SQLITE_AUTH", "SQLITE_NOMEM", "SQLITE_TOOBIG"),
)


class Database:
    """A connection. Each thread has its own, and with it transactions of its own.

    Args:
        path: The file; it is made when it does not exist.

    Raises:
        CorpusTooNew: A later version wrote it.
        CorpusDamaged: The file is not a sound database. So do all methods.
        CorpusLocked: Another program holds it. So do all methods.
        CorpusError: It cannot be read or written. So do all methods.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._errors():
            # Another thread may close it, but not use it.
            self._connection = sqlite3.connect(
                path, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors():
                for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                    self._connection.execute(f"PRAGMA {pragma}")
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside sees the file at one moment, whatever is written meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        self.run("BEGIN")
        try:
            yield
        finally:
            self._end("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Everything written inside is committed together, or not at all."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self._end("COMMIT")
        except BaseException:
            self._end("ROLLBACK")
            raise

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of a query, as tuples."""
        with self._errors():
            return self._connection.execute(statement, values).fetchall()

    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query, one at a time."""
        with self._errors():
            yield from self._connection.execute(statement, values)

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Execute a statement; the row number of the last insert."""
        with self._errors():
            return self._connection.execute(statement, values).lastrowid or 0

    def run_all(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement once for each row of values."""
        with self._errors():
            self._connection.executemany(statement, rows)

    def _end(self, statement: str) -> None:
        """End the transaction, unless an error has ended it already."""
        if self._connection.in_transaction:
            self.run(statement)

    def _migrate(self) -> None:
        version = self._version()
        if version > len(MIGRATIONS):
            raise CorpusTooNew(
                f"{self.path}: written by a later version of rag-app (format {version}, this one "
                f"reads {len(MIGRATIONS)}); update with: pip install --upgrade rag-app"
            )
        for number in range(version, len(MIGRATIONS)):
            with self.writing():
                if self._version() == number:  # nobody else was faster
                    for statement in MIGRATIONS[number]:
                        self.run(statement)
                    self.run(f"PRAGMA user_version = {number + 1}")

    def _version(self) -> int:
        ((version,),) = self.rows("PRAGMA user_version")
        return int(version)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # a mistake of this program's
        except sqlite3.DatabaseError as error:
            raise self._ours(error) from error

    def _ours(self, error: sqlite3.DatabaseError) -> CorpusError:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(_HELD):
            return CorpusLocked(f"{self.path}: held by another program ({error}); try again")
        if code.startswith(_OUTSIDE):
            return CorpusError(
                f"{self.path}: cannot be used ({error}); check free space on the disk and your "
                "rights to the folder, then run the same command again: nothing is lost"
            )
        return CorpusDamaged(
            f"{self.path}: not a sound database ({error}); move the folder away and run "
            "rag-app index again: your own files are untouched"
        )


def make_folder(folder: Path) -> None:
    """Make a corpus folder where there is none.

    Raises:
        CorpusError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CorpusError(
            f"{folder}: cannot be made into a corpus folder ({error.strerror or error}); "
            "name another with --corpus"
        ) from error
