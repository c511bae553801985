"""Blobs: large values by key, which may precede their document: readings of pictures, figures.

Documents name the keys they need among their facts. What none names goes when a document goes; a
reading of a file whose reading was broken off waits under its key until then.
"""

from __future__ import annotations

from indexing.store.checksums import checksum
from indexing.store.database import Database
from indexing.store.facts import FIGURES, PICTURES

BLOB_CHECKSUM = "checksum(CAST(key AS BLOB), value)"
_LIST = "json_each(CASE WHEN json_valid(facts.value) THEN facts.value ELSE '[]' END)"
_USED = (
    f"SELECT json_each.value FROM facts, {_LIST} WHERE name = '{PICTURES}'{{0}} UNION"
    f" SELECT json_extract(json_each.value, '$.key') FROM facts, {_LIST}"
    f" WHERE name = '{FIGURES}'{{0}}"
)


class Blobs:
    """The blobs in a database; whoever writes has a transaction open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> bytes | None:
        """A blob as it was written; None where it is not there, or damaged."""
        rows = self._database.rows("SELECT value, checksum FROM blobs WHERE key = ?", [key])
        for value, known in rows:
            if isinstance(value, bytes) and checksum(key.encode(), value) == known:
                return value
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep a blob in place of the one of that key."""
        self._database.run(
            "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)",
            [key, value, checksum(key.encode(), value)],
        )

    def drop_unused(self) -> None:
        """Drop what no document names."""
        used = _USED.format("")
        self._database.run(f"DELETE FROM blobs WHERE key NOT IN ({used})")

    def drop_damaged(self) -> None:
        """Drop what is not as it was written: it is read again with its file."""
        self._database.run(f"DELETE FROM blobs WHERE checksum != {BLOB_CHECKSUM}")

    def copy(self, to: Database, row: int) -> None:
        """Copy the sound blobs that a document names to another database."""
        used = _USED.format(" AND document = ?")
        rows = self._database.rows(
            f"SELECT key, value, checksum FROM blobs WHERE checksum = {BLOB_CHECKSUM}"
            f" AND key IN ({used})",
            [row, row],
        )
        to.run_all("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", rows)
