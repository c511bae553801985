"""The sizes and times of files when they were last read whole, to skip unchanged ones."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.store.collections import DEFAULT, Collections
from indexing.store.database import Database


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file looked like when it was last read."""

    size: int
    mtime_ns: int


class FileStates:
    """The states of the files in a database, for each collection of their own."""

    def __init__(self, database: Database) -> None:
        self._database, self._collections = database, Collections(database)

    def remember(self, path: str, state: FileState, *, collection: str = DEFAULT) -> None:
        """Note that a file was read whole in this state, so that it can be skipped next time."""
        with self._database.writing():
            row = self._collections.ensure(collection)
            self._database.run(
                "INSERT OR REPLACE INTO file_states VALUES (?, ?, ?, ?)",
                [row, path, state.size, state.mtime_ns],
            )

    def state(self, path: str, *, collection: str = DEFAULT) -> FileState | None:
        """The state in which a file was last read whole for a collection."""
        rows = self._database.rows(
            "SELECT size, mtime_ns FROM file_states WHERE path = ? AND collection = ?",
            [path, self._collections.row(collection)],
        )
        return FileState(*rows[0]) if rows else None

    def states(self, *, collection: str = DEFAULT) -> dict[str, FileState]:
        """The states in which the files of a collection were last read whole, by path."""
        rows = self._database.rows(
            "SELECT path, size, mtime_ns FROM file_states WHERE collection = ?",
            [self._collections.row(collection)],
        )
        return {path: FileState(size, mtime_ns) for path, size, mtime_ns in rows}
