"""All that is derived from the places and facts of documents, made again."""

from __future__ import annotations

from indexing.store.database import Database
from indexing.store.derived.triggers import DERIVED


def derive(database: Database) -> None:
    """Make all that is derived from places and facts again, within a transaction."""
    for table, now in DERIVED.items():
        database.run(f"DELETE FROM {table}")  # noqa: S608 - a name of `DERIVED`
        database.run(f"INSERT INTO {table} {now}")
