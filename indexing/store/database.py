"""One SQLite file in WAL mode: transactions, numbered migrations, and SQLite's errors as ours."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from weakref import finalize

from indexing.errors import CorpusError, CorpusLocked, CorpusNotFound, CorpusTooNew
from indexing.store.database_errors import damaged, irreparable, replaced, sqlite_errors
from indexing.store.derived.triggers import FOR_EACH_CONNECTION, register
from indexing.store.migrations import MIGRATIONS

WAIT = 30  # seconds for another connection's transaction, a matter of milliseconds as a rule

Synchronous = Literal["normal", "full"]
"""What a power cut may take: the last commits, or none (each waits for the disk)."""


_BESIDE = ("-wal", "-shm")  # what SQLite keeps beside a database: its log, and an index of that


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """Which file a path names: another one, or a copy, has another identity."""

    device: int  # of its file system
    inode: int  # on that device
    # size and time of the last change, where these matter; else empty
    content: tuple[int, ...] = ()

    @classmethod
    def of(cls, path: Path, *, content: bool = False) -> FileIdentity | None:
        """The identity of a file; None where there is none.

        Args:
            path: The database.
            content: Whether a change of what it holds, or of its log, makes it another.

        Raises:
            CorpusError: Its folder may not be entered.
        """
        with sqlite_errors(path):
            try:
                stat = path.stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        if not content:
            return cls(stat.st_dev, stat.st_ino)
        logged = _size(_log(path))
        return cls(stat.st_dev, stat.st_ino, (stat.st_size, stat.st_mtime_ns, logged))


class Database:
    """A connection. Each thread has its own, and with it transactions of its own.

    A file or folder that may not be written to is opened for reading.

    Raises:
        CorpusNotFound: There is no such file.
        CorpusTooNew: A later version wrote it.
        CorpusDamaged: The file is not a sound database. So do all methods.
        CorpusLocked: Another program holds it. So do all methods.
        CorpusReplaced: By whatever writes, when another file lies at the path now, or none.
        CorpusError: It cannot be read or written. So do all methods.
    """

    def __init__(self, path: Path, *, synchronous: Synchronous = "normal") -> None:
        self.path = path
        self.read_only = not _may_write(path)
        self._immutable = False
        before = self._identify()
        if before is None:
            raise CorpusNotFound(f"{path}: no such file; check the name given to --corpus")
        if _size(path) == 0:
            raise irreparable(damaged(path, "it is cut to 0 bytes"))
        self._connection = self._open(synchronous)
        try:
            self.identity = self._identify()
            if self.identity is None or self.identity.inode != before.inode:
                raise replaced(path)
            self._migrate()
            for statement in FOR_EACH_CONNECTION:
                self.run(statement)
        except BaseException:
            self._connection.close()
            raise
        # A connection and its statements hold each other: left alone, it would wait for Python's
        # garbage collection, with its open files, long after the thread that used it has ended.
        finalize(self, self._connection.close).atexit = False

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @property
    def is_current(self) -> bool:
        """Whether the path still names the file that is open; so while a transaction lasts."""
        return self.in_transaction or self._identify() == self.identity

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

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
            self._end("ROLLBACK")  # which a damaged file allows, too
        if self._immutable and not self.is_current:
            raise CorpusLocked(f"{self.path}: changed by its owner while it was read; try again")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Everything written inside is committed together, or not at all."""
        if self.read_only:
            raise CorpusError(
                f"{self.path}: may not be written to; give yourself the right to write to it and "
                "to its folder, or name another corpus with --corpus"
            )
        if not self.is_current:
            raise replaced(self.path)
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self._end("COMMIT")
        except BaseException:
            self._end("ROLLBACK")
            raise

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of a query, as tuples."""
        with sqlite_errors(self.path):
            return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401 - a tuple
        """The one row of a query for what must be there.

        Raises:
            CorpusDamaged: It is not: damage to an index of SQLite hides rows without an error.
        """
        rows = self.rows(statement, values)
        if len(rows) != 1:
            raise damaged(self.path, "a row is missing")
        return rows[0]

    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query, one at a time."""
        with sqlite_errors(self.path):
            # `yield from` would close the cursor, which fails once the connection is closed.
            for row in self._connection.execute(statement, values):  # noqa: UP028
                yield row

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Execute a statement; the row number of the last insert."""
        with sqlite_errors(self.path):
            return self._connection.execute(statement, values).lastrowid or 0

    def run_all(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement once for each row of values."""
        with sqlite_errors(self.path):
            self._connection.executemany(statement, rows)

    def copy(self, target: Path) -> None:
        """Write the database as it is now to another file, while others write to this one.

        By SQLite's online backup: all pages in one read transaction.

        Args:
            target: A sound database, which is replaced in one transaction that its readers see, or
                a file that does not exist yet.
        """
        with sqlite_errors(self.path), closing(sqlite3.connect(target, timeout=WAIT)) as other:
            self._connection.backup(other)

    def _open(self, synchronous: Synchronous) -> sqlite3.Connection:
        """A connection for writing; for reading where the folder allows no more."""
        if not self.read_only:
            return self._connect("rw", f"synchronous = {synchronous}", "journal_mode = WAL")
        try:
            return self._connect("ro")
        except CorpusError:
            # SQLite needs its log's index beside the file; without a log it can do without.
            if _size(_log(self.path)):
                raise CorpusError(
                    f"{self.path}: its latest changes lie in {_log(self.path).name}, which cannot "
                    "be read without the right to write; let its owner run: rag-app info"
                ) from None
        self._immutable = True
        return self._connect("ro&immutable=1")

    def _connect(self, mode: str, *pragmas: str) -> sqlite3.Connection:
        with sqlite_errors(self.path):
            # Another thread may close it, but not use it.
            connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                register(connection)
                for pragma in (*pragmas, "foreign_keys = ON", "schema_version"):
                    connection.execute(f"PRAGMA {pragma}").fetchall()
            except BaseException:
                connection.close()
                raise
        return connection

    def _identify(self) -> FileIdentity | None:
        return FileIdentity.of(self.path, content=self._immutable)

    def _end(self, statement: str) -> None:
        """End the transaction, unless an error or another thread has ended it already."""
        try:
            open_still = self._connection.in_transaction
        except sqlite3.ProgrammingError:  # the connection was closed
            return
        if open_still:
            self.run(statement)

    def _migrate(self) -> None:
        version = self._version()
        if version > len(MIGRATIONS):
            raise CorpusTooNew(
                f"{self.path}: written by a later version of rag-app (format {version}, this one "
                f"reads {len(MIGRATIONS)}); update with: pip install --upgrade rag-app"
            )
        if version < len(MIGRATIONS) and self.read_only:
            raise CorpusError(
                f"{self.path}: written by an earlier version of rag-app (format {version}), and "
                "may not be written to; let its owner run: rag-app info"
            )
        try:
            migrate(self)
        except sqlite3.IntegrityError as error:  # the steps before this one never were
            raise damaged(self.path, str(error)) from error

    def _version(self) -> int:
        ((version,),) = self.rows("PRAGMA user_version")
        return int(version)


def migrate(database: Database) -> None:
    """Bring a database to the format of this version, a step a transaction."""
    ((version,),) = database.rows("PRAGMA user_version")
    for number in range(version, len(MIGRATIONS)):
        with database.writing():
            if database.rows("PRAGMA user_version") == [(number,)]:  # nobody else was faster
                for statement in MIGRATIONS[number]:
                    database.run(statement)
                database.run(f"PRAGMA user_version = {number + 1}")


def create(path: Path) -> None:
    """Make an empty database, whole or not at all: a killed program leaves no file of 0 bytes.

    Raises:
        CorpusError: The folder cannot be written to.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with sqlite_errors(path):
        try:
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                register(connection)
                for pragma in ("journal_mode = WAL", "synchronous = FULL"):
                    connection.execute(f"PRAGMA {pragma}")
                connection.execute("BEGIN")
                for statement in chain.from_iterable(MIGRATIONS):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
                connection.execute("COMMIT")
            _install(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def swap(draft: Path, path: Path) -> Path:
    """Put a whole, closed database in the place of a damaged one; the name that one has now.

    Programs that have the old file open notice that it is another (`Database.is_current`), and
    SQLite leaves alone what lies beside a file that has moved.

    Raises:
        CorpusError: The folder cannot be written to.
    """
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    with sqlite_errors(path):
        shutil.copyfile(path, aside)
        for suffix in _BESIDE:
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        draft.replace(path)
        _sync_folder(path.parent)
    return aside


def _install(draft: Path, path: Path) -> None:
    """Give a whole database its name, unless somebody else was faster."""
    if path.exists():
        return
    for suffix in _BESIDE:  # of a database that is gone: SQLite would apply its log
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        draft.rename(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Let names in a folder survive a power cut."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def exists(path: Path) -> bool:
    """Whether there is a file by that name.

    Raises:
        CorpusError: Its folder may not be entered.
    """
    return FileIdentity.of(path) is not None


def _log(path: Path) -> Path:
    """SQLite's write-ahead log of a database."""
    return path.with_name(f"{path.name}-wal")


def _size(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _may_write(path: Path) -> bool:
    """Whether a database, and the log beside it, may be written to."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(one, os.W_OK, effective_ids=effective) for one in (path, path.parent))


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
