"""What each connection makes for itself: functions, a view and triggers.

So the schema stays within the first page of the file, from which a database that was cut short is
repaired.
"""

from __future__ import annotations

import sqlite3

from indexing.store.checksums import CURRENT_CHECKSUMS, checksum
from indexing.store.derived.name_keys import NAME_TRIGGERS, NAMES_NOW, name_keys
from indexing.store.derived.occasion_keys import OCCASION_TRIGGERS, OCCASIONS_NOW, occasion_keys

FOR_EACH_CONNECTION = (
    CURRENT_CHECKSUMS,
    "CREATE TEMP TRIGGER document_added AFTER INSERT ON documents BEGIN"
    " INSERT INTO unindexed VALUES (NEW.row); END",
    "CREATE TEMP TRIGGER document_removed AFTER DELETE ON documents BEGIN"
    " DELETE FROM unindexed WHERE row = OLD.row;"
    " INSERT OR REPLACE INTO outdated"
    " SELECT OLD.row, seq FROM sqlite_sequence WHERE name = 'segments'; END",
    *NAME_TRIGGERS,
    *OCCASION_TRIGGERS,
)
"""For a connection to a database of the present format."""

DERIVED = {"names": NAMES_NOW, "occasions": OCCASIONS_NOW}
"""What each table holds that is derived from the places and facts of documents."""


def register(connection: sqlite3.Connection) -> None:
    """Teach a connection the SQL functions that the schema and statements use."""
    connection.create_function("checksum", -1, checksum, deterministic=True)
    connection.create_function("name_keys", 3, name_keys, deterministic=True)
    connection.create_function("occasion_keys", 2, occasion_keys, deterministic=True)
