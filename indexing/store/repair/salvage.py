"""Salvage: the sound documents of a damaged database, in a database of their own."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Document
from indexing.errors import CorpusError
from indexing.store.blobs import Blobs
from indexing.store.collections import (
    COLLECTION_CHECKSUM,
    MEMBERSHIP_CHECKSUM,
    NOBODY,
    RECOVERED,
    Collections,
    Membership,
)
from indexing.store.database import Database, create
from indexing.store.facts import Facts
from indexing.store.records.document import DOCUMENT, to_document
from indexing.store.repair.verification import damaged_parts, document_rows, fingerprint_of

HEADER = 100  # bytes (sqlite.org/fileformat.html): page size at 16, number of pages at 28
MAGIC = b"SQLite format 3\0"
MAX_BYTES = 1 << 40  # a header that names more is damaged itself
_META = ("recipe", "recipe_checksum")


@dataclass(frozen=True, slots=True)
class SoundRecord:
    """A document whose record is sound and whose passages or vectors are not."""

    document: Document  # as it was stored
    added: str  # when it was added
    memberships: tuple[Membership, ...] = ()  # its places in collections, as far as they are sound


def salvage(
    database: Database, target: Path, *, progress: Callable[[int, int], None] | None = None
) -> list[SoundRecord]:
    """Copy every sound document of a damaged database, with its row number, into a new one.

    Returns:
        What is to be encoded again: documents of which only the record is sound; all of them, if
        how the vectors were made is lost.
    """
    create(target)
    new = Database(target)
    encode: list[SoundRecord] = []
    try:
        with new.writing():
            keep = _copy_meta(database, new)
            _copy_collections(database, new)
            rows = document_rows(database)
            for done, row in enumerate(rows, 1):
                damaged = damaged_parts(database, row)
                if not damaged and keep:
                    _copy(database, new, row)
                elif "record" not in damaged:
                    encode.append(sound_record(database, row))
                if progress:
                    progress(done, len(rows))
            Collections(new).bring_home()
            _copy_files(database, new)
    finally:
        new.close()
    return encode


def lengthen(path: Path) -> bool:
    """Pad a database that was cut short with empty pages, so that SQLite opens it; whether it was.

    Raises:
        CorpusError: The file cannot be written to.
    """
    try:
        with path.open("r+b") as file:
            header = file.read(HEADER)
            if len(header) < HEADER or not header.startswith(MAGIC):
                return False
            page, pages = struct.unpack(">H", header[16:18])[0], header[28:32]
            whole = (page if page > 1 else 1 << 16) * struct.unpack(">I", pages)[0]
            if not file.seek(0, os.SEEK_END) < whole <= MAX_BYTES:
                return False
            file.truncate(whole)
            return True
    except OSError as error:
        raise CorpusError(f"{path}: cannot be written to ({error}); make room there") from error


def sound_record(database: Database, row: int) -> SoundRecord:
    """A document by row, if nothing but its passages and vectors is damaged."""
    statement = f"SELECT {DOCUMENT}, added FROM documents WHERE row = ?"  # noqa: S608 - a constant
    ((*values, added),) = database.rows(statement, [row])
    return SoundRecord(to_document(values), added, _memberships(database, row))


def _memberships(database: Database, row: int) -> tuple[Membership, ...]:
    """The memberships of a document that are sound, in collections that are."""
    with suppress(CorpusError):
        rows = database.rows(
            "SELECT collection, path, part, title FROM memberships"  # noqa: S608 - constants
            f" WHERE document = ? AND checksum = {MEMBERSHIP_CHECKSUM} AND collection IN"
            f" (SELECT row FROM collections WHERE checksum = {COLLECTION_CHECKSUM})",
            [row],
        )
        return tuple(Membership(*one) for one in rows)
    return ()


def _copy_meta(database: Database, new: Database) -> bool:
    """Copy how vectors were made, and a generation past the old one; whether the first is sound."""
    generation = "0"
    with suppress(CorpusError, IndexError):
        ((generation,),) = database.rows("SELECT value FROM meta WHERE key = 'generation'")
    past = int(generation) + 1 if str(generation).isdecimal() else 1
    new.run("UPDATE meta SET value = ? WHERE key = 'generation'", [str(past)])
    try:
        if fingerprint_of(database) is None:
            return False
        meta = dict(database.rows("SELECT key, value FROM meta"))
    except (CorpusError, ValueError, TypeError):
        return False
    new.run_all("INSERT INTO meta VALUES (?, ?)", [(key, meta[key]) for key in _META])
    return True


def _copy_collections(database: Database, new: Database) -> None:
    """Copy collections; where one is damaged, documents without any will be nobody's."""
    sound = False
    with suppress(CorpusError):
        (broken,) = database.rows(
            f"SELECT count(*) FROM collections WHERE checksum != {COLLECTION_CHECKSUM}"  # noqa: S608
        )
        for row in database.each(
            "SELECT row, name, owner, shared, checksum FROM collections"  # noqa: S608
            f" WHERE checksum = {COLLECTION_CHECKSUM} ORDER BY row"
        ):
            new.run("INSERT OR REPLACE INTO collections VALUES (?, ?, ?, ?, ?)", row)
        sound = broken == (0,)
    if not sound:
        Collections(new).ensure(RECOVERED, owner=NOBODY)


def _copy(database: Database, new: Database, row: int) -> None:
    for table, key in (
        ("documents", "row"),
        ("passages", "document"),
        ("passage_vectors", "document"),
        ("checksums", "document"),
    ):
        rows = database.rows(f"SELECT * FROM {table} WHERE {key} = ?", [row])  # noqa: S608
        places = ", ".join("?" * len(rows[0]))
        new.run_all(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608
    Collections(new).put(row, _memberships(database, row))
    with suppress(CorpusError):
        Facts(database).copy(new, row)
    with suppress(CorpusError):
        Blobs(database).copy(new, row)


def _copy_files(database: Database, new: Database) -> None:
    """What files looked like when they were read, for documents that are there."""
    with suppress(CorpusError):
        for row in database.each("SELECT collection, path, size, mtime_ns FROM file_states"):
            new.run(
                "INSERT OR IGNORE INTO file_states SELECT ?, ?, ?, ?"
                " WHERE EXISTS (SELECT 1 FROM memberships WHERE collection = ? AND path = ?)",
                [*row, *row[:2]],
            )
