"""CRC-32 of what the database holds, by a function that SQLite calls as it writes and verifies.

The table `checksums` has three for each document: of its record (every column but the vector), of
its passages and of its vectors. The view `current_checksums` computes the same from what is there,
so that one definition serves writing and verifying; each connection makes it for itself. A CRC
notices what a disk or a memory does by chance, all of one to 32 flipped bits in a row and all but
one of 4 billion others; it is no signature against people.
"""

from __future__ import annotations

from zlib import crc32

Value = int | float | str | bytes | None

CURRENT_CHECKSUMS = (
    "CREATE TEMP VIEW current_checksums AS"
    " SELECT documents.row AS document,"
    " checksum(documents.row, CAST(id AS BLOB), CAST(path AS BLOB), CAST(part AS BLOB),"
    " CAST(title AS BLOB), CAST(format AS BLOB), CAST(digest AS BLOB), CAST(text AS BLOB),"
    " CAST(turns AS BLOB), CAST(pages AS BLOB), CAST(breaks AS BLOB), CAST(metadata AS BLOB),"
    " words, tokens, CAST(added AS BLOB)) AS record,"
    ' (SELECT coalesce(sum(checksum(passages.row, start, "end", CAST(speakers AS BLOB),'
    " time, page)), 0) FROM passages WHERE passages.document = documents.row) AS passages,"
    " checksum(documents.row, vector, (SELECT vectors FROM passage_vectors"
    " WHERE passage_vectors.document = documents.row)) AS vectors"
    " FROM documents"
)
"""For a connection to a database of the present format."""


def checksum(*values: Value) -> int:
    """CRC-32 of SQL values, each with its type and length, so that none can run into the next."""
    crc = 0
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode()
        crc = crc32(data, crc32(f"{type(value).__name__} {len(data)} ".encode(), crc))
    return crc
