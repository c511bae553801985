"""CRC-32 of what the database holds, by a function that SQLite calls as it writes and verifies.

The table `checksums` has three for each document: of its record (every column but the vector), of
its passages and of its vectors. The view `current_checksums` computes the same from what is there,
so that one definition, in the schema, serves writing and verifying. A CRC notices what a disk or a
memory does by chance, all of one to 32 flipped bits in a row and all but one of 4 billion others;
it is no signature against people.
"""

from __future__ import annotations

import sqlite3
from zlib import crc32

Value = int | float | str | bytes | None


def register(connection: sqlite3.Connection) -> None:
    """Teach a connection the SQL function `checksum(value, ...)`."""
    connection.create_function("checksum", -1, checksum, deterministic=True)


def checksum(*values: Value) -> int:
    """CRC-32 of SQL values, each with its type and length, so that none can run into the next."""
    crc = 0
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode()
        crc = crc32(data, crc32(f"{type(value).__name__} {len(data)} ".encode(), crc))
    return crc
