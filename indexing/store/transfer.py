"""Documents from one store to another, with their vectors: nothing is encoded again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from indexing.store.blobs import Blobs
from indexing.store.collections import COLLECTION_CHECKSUM
from indexing.store.facts import Facts
from indexing.store.store import Store

_OWN_ROWS = ("documents", "row"), ("passage_vectors", "document"), ("memberships", "document")


def versions(store: Store) -> Iterator[tuple[int, str, int]]:
    """(row, id, version) of every document, by row: another version after every change of it.

    Of its text, names, passages, vectors, facts and places in collections.
    """
    rows = store.database.each(
        "SELECT documents.row, id, record, checksums.passages, vectors,"
        " (SELECT group_concat(checksum) FROM (SELECT checksum FROM memberships"
        " WHERE document = documents.row ORDER BY collection)),"
        " (SELECT group_concat(checksum) FROM (SELECT checksum FROM facts"
        " WHERE document = documents.row ORDER BY name))"
        " FROM documents JOIN checksums ON checksums.document = documents.row"
        " ORDER BY documents.row"
    )
    for row, id_, *parts in rows:
        seal = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
        yield row, id_, int.from_bytes(seal, "little", signed=True)


def transfer(source: Store, target: Store, rows: Iterable[int], *, removed: Iterable[int]) -> None:
    """Copy documents by row, which they keep, and drop others, in one transaction.

    Passages get rows of the target's own. The target knows collections by their rows alone, so
    that a search there is limited by rows that the source has looked up.
    """
    here, there = source.database, target.database
    with there.writing():
        collections = here.rows("SELECT row FROM collections")
        there.run_all(
            "INSERT OR IGNORE INTO collections VALUES (?, ?, NULL, 0, 0)",
            [(row, f"collection {row}") for (row,) in collections],
        )
        there.run(f"UPDATE collections SET checksum = {COLLECTION_CHECKSUM}")  # noqa: S608
        there.run_all(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            here.rows("SELECT key, value FROM meta WHERE key LIKE 'recipe%'"),
        )
        for row in removed:
            there.run("DELETE FROM documents WHERE row = ?", [row])
        for row in rows:
            there.run("DELETE FROM documents WHERE row = ?", [row])
            _copy(source, target, row)
        target.blobs.drop_unused()
        target.meta.raise_generation()


def _copy(source: Store, target: Store, row: int) -> None:
    here, there = source.database, target.database
    for table, key in _OWN_ROWS:
        values = here.rows(f"SELECT * FROM {table} WHERE {key} = ?", [row])  # noqa: S608
        places = ", ".join("?" * len(values[0])) if values else ""
        there.run_all(f"INSERT INTO {table} VALUES ({places})", values)  # noqa: S608
    passages = here.rows(
        'SELECT document, start, "end", speakers, time, page FROM passages'
        " WHERE document = ? ORDER BY start",
        [row],
    )
    there.run_all(
        'INSERT INTO passages (document, start, "end", speakers, time, page)'
        " VALUES (?, ?, ?, ?, ?, ?)",
        passages,
    )
    Facts(here).copy(there, row)
    Blobs(here).copy(there, row)
    there.run("INSERT INTO checksums SELECT * FROM current_checksums WHERE document = ?", [row])
