"""Errors of a database: what SQLite and the system say in, what a person is told out."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexing.errors import CorpusDamaged, CorpusError, CorpusLocked, CorpusReplaced

# Primary result codes (sqlite.org/rescode.html) that are no damage to the file.
_HELD = ("SQLITE_BUSY", "SQLITE_LOCKED")
_OUTSIDE = (
    *("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN"),
    *("SQLITE_PERM", "SQLITE_AUTH", "SQLITE_NOMEM", "SQLITE_TOOBIG"),
)


def replaced(path: Path) -> CorpusReplaced:
    """The error of writing to a database that is no longer at its path."""
    return CorpusReplaced(
        f"{path}: deleted or replaced since it was opened; nothing was written to "
        "what lies there now; run the same again to write to that"
    )


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Raise what SQLite and the system say of a database at a path as errors of this project.

    Raises:
        CorpusLocked: Another program holds it.
        CorpusDamaged: It is not a sound database.
        CorpusError: It cannot be read or written.
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a mistake of this program's
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(_HELD):
            reason = f"{path}: held by another program ({error}); try again"
            raise CorpusLocked(reason) from error
        raise (_unusable if code.startswith(_OUTSIDE) else damaged)(path, str(error)) from error
    except UnicodeDecodeError as error:  # what SQLite says of damage to a name
        raise damaged(path, "a name in it is no text") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            reason = f"{path.parent}: no corpus can lie there ({error.strerror})"
            raise CorpusError(f"{reason}; name another folder with --corpus") from error
        raise _unusable(path, error.strerror or str(error)) from error


def _unusable(path: Path, reason: str) -> CorpusError:
    return CorpusError(
        f"{path}: cannot be used ({reason}); check free space on the disk and your "
        "rights to the folder, then run the same command again: nothing is lost"
    )


_REPAIR = "try: rag-app verify --repair; or "


def damaged(path: Path, reason: str) -> CorpusDamaged:
    """The error for a file that is not a sound database."""
    return CorpusDamaged(
        f"{path}: not a sound database ({reason}); {_REPAIR}restore a "
        "backup; or move the folder away and run rag-app index again: your own files are untouched"
    )


def irreparable(error: CorpusDamaged) -> CorpusDamaged:
    """The error for a database of which nothing can be read, which no repair helps."""
    return CorpusDamaged(str(error).replace(_REPAIR, ""))
