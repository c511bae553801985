"""The state of a store: its generation and stamp, and the fingerprint of its vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from indexing.encoder.fingerprint import Fingerprint
from indexing.store.checksums import checksum
from indexing.store.database import Database
from indexing.store.repair.verification import fingerprint_of


class Meta:
    """The table of names and values in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def generation(self) -> int:
        """Raised by every commit that changes documents."""
        return int(self._value("generation") or 0)  # an integer, as every opening makes sure

    @property
    def stamp(self) -> str:
        """Drawn again by every commit that changes documents."""
        return self._value("stamp") or ""

    @property
    def revision(self) -> str:
        """Another one after every change of documents or collections."""
        keys = "('stamp', 'collections')"
        rows = self._database.rows(f"SELECT value FROM meta WHERE key IN {keys} ORDER BY key")
        return "-".join(str(value) for (value,) in rows)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One transaction, which raises the generation."""
        with self._database.writing():
            yield
            self.raise_generation()

    def raise_generation(self) -> None:
        """Count a change of documents, within its transaction."""
        self._database.run(
            "UPDATE meta SET value = CASE key WHEN 'stamp' THEN lower(hex(randomblob(8)))"
            " ELSE CAST(value AS INTEGER) + 1 END WHERE key IN ('generation', 'stamp')"
        )

    @property
    def fingerprint(self) -> Fingerprint | None:
        """How the vectors were made; None before the first document."""
        return fingerprint_of(self._database)

    def put_fingerprint(self, fingerprint: Fingerprint) -> None:
        """Say how the vectors are made, within a transaction."""
        key = fingerprint_key(fingerprint)
        self._put("recipe", key)
        self._put("recipe_checksum", str(checksum(key.encode())))

    def _value(self, key: str) -> str | None:
        rows = self._database.rows("SELECT value FROM meta WHERE key = ?", [key])
        return str(rows[0][0]) if rows else None

    def _put(self, key: str, value: str) -> None:
        self._database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])


def fingerprint_key(fingerprint: Fingerprint) -> str:
    """A fingerprint as it is stored."""
    return json.dumps(fingerprint.as_dict(), sort_keys=True)
