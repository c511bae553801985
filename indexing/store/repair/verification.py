"""Verification: whether a database is sound, and which documents are damaged where it is not.

`require_sound_start` is what every opening can afford. `verify` reads everything: SQLite's own
checks of pages, indexes and foreign keys, then each document's checksums, digest, spans and
vectors. It goes on where SQLite gives up, so that every damaged document is named.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from indexing.documents import Page, Utterance, content_digest
from indexing.encoder.fingerprint import FOREIGN, Fingerprint
from indexing.errors import CorpusDamaged, CorpusError
from indexing.store.blobs import BLOB_CHECKSUM
from indexing.store.checksums import checksum
from indexing.store.collections import COLLECTION_CHECKSUM, MEMBERSHIP_CHECKSUM
from indexing.store.database import Database
from indexing.store.derived.triggers import DERIVED, register
from indexing.store.facts import FACT_CHECKSUM
from indexing.store.migrations import MIGRATIONS

UNIT = 1e-2  # how far from 1 the length of a vector may be, in the coarsest dtype
_MAX_ROW = 2**53  # a row number past this is damage; SQLite refuses the next one at 2**63
_LINES = 5  # of SQLite's complaints

# What an index holds of a document, should its record be out of reach.
_NAMES = {
    "id": "SELECT row, id FROM documents INDEXED BY sqlite_autoindex_documents_1",
    "path": "SELECT row, path FROM documents INDEXED BY documents_by_path",
}
_ROWS = (
    "SELECT row FROM documents",
    *_NAMES.values(),
    "SELECT document FROM checksums",
    "SELECT document FROM passage_vectors",
    "SELECT DISTINCT document FROM passages",
)
PARTS = ("record", "passages", "vectors")


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in a database that is not as it was written.

    Attributes:
        what: "database" (pages, schema, indexes), "fingerprint" (how vectors were made),
            "collections" (whose they are, and what is in them), "facts" (dates, participants,
            names of speakers), "document", or "index" (files derived from the database).
        reason: How it was noticed.
        row: Row number of a damaged document; None for the rest.
        document: Its id, "" where unknown.
        path: Its path, "" where unknown.
        parts: Which of its parts are damaged: "record", "passages", "vectors".
    """

    what: str
    reason: str
    row: int | None = None
    document: str = ""
    path: str = ""
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = " ".join(filter(None, (self.document, self.path))) or f"row {self.row}"
        return f"{name if self.what == 'document' else self.what}: {self.reason}"


def require_sound_start(database: Database) -> None:
    """Look at what takes no time: the schema, the generation and the fingerprint.

    Raises:
        CorpusDamaged: One of them is not as it was written.
    """
    with database.reading():
        schema = set(database.rows(_SCHEMA))
        if not _schema() <= schema:
            raise _refusal(database, "its schema is not that of its format")
        meta = dict(database.rows("SELECT key, value FROM meta"))
        if not str(meta.get("generation", "")).isdecimal() or "stamp" not in meta:
            raise _refusal(database, "its generation is unreadable")
        if fingerprint_of(database) is None and database.rows("SELECT 1 FROM documents LIMIT 1"):
            raise _refusal(database, "how its vectors were made is lost")


def fingerprint_of(database: Database) -> Fingerprint | None:
    """How vectors were made; None before the first document.

    Raises:
        CorpusDamaged: It is not as it was written.
    """
    statement = "SELECT key, value FROM meta WHERE key IN ('recipe', 'recipe_checksum')"
    meta = dict(database.rows(statement))
    if not meta:
        return None
    value = str(meta.get("recipe", ""))
    if meta.get("recipe_checksum") != str(checksum(value.encode())):
        raise _refusal(database, "how its vectors were made is not as it was written")
    return Fingerprint(**json.loads(value))


def verify(
    database: Database, *, progress: Callable[[int, int], None] | None = None
) -> list[Damage]:
    """Everything in a database that is not as it was written; empty for a sound one."""
    with database.reading():
        damages = [*_database(database), *_fingerprint(database)]
        named = [*_collections(database), *_facts(database)]
        damages += named or _derived(database)
        sound = not any(one.what == "fingerprint" for one in damages)
        fingerprint = fingerprint_of(database) if sound else None
        rows, names = document_rows(database), document_names(database)
        for done, row in enumerate(rows, 1):
            reasons = _document(database, row, fingerprint)
            if reasons:
                damages.append(_damage(row, names, reasons))
            if progress:
                progress(done, len(rows))
    return damages


def document_rows(database: Database) -> list[int]:
    """Row numbers of all documents, ascending, from every table that has them."""
    rows: set[int] = set()
    for statement in _ROWS:
        with suppress(CorpusError):
            rows.update(row for row, *_ in database.each(statement) if isinstance(row, int))
    return sorted(rows)


def lists_documents(database: Database) -> bool:
    """Whether any table or index that has all documents can be read to its end."""
    for statement in _ROWS:
        with suppress(CorpusError):
            for _ in database.each(statement):
                pass
            return True
    return False


def document_names(database: Database) -> dict[str, dict[int, str]]:
    """{"id": {row: id}, "path": {row: path}}, from indexes that hold a second copy of them."""
    names: dict[str, dict[int, str]] = {name: {} for name in _NAMES}
    for name, statement in _NAMES.items():
        with suppress(CorpusError):
            names[name].update((row, str(value)) for row, value in database.each(statement))
    return names


def damaged_parts(database: Database, row: int) -> dict[str, str]:
    """The parts of a document whose checksums differ from what is there, and how."""
    reasons = {}
    for part in PARTS:
        statement = f"SELECT {part} FROM {{}} WHERE document = ?"  # noqa: S608 - a name of PARTS
        try:
            stored = database.rows(statement.format("checksums"), [row])
            current = database.rows(statement.format("current_checksums"), [row])
        except CorpusError as error:
            reasons[part] = f"{part} cannot be read ({error.__cause__ or error})"
            continue
        if not current:
            reasons[part] = f"the {part} are lost"
        elif stored != current:
            reasons[part] = f"checksum of the {part} differs"
    return reasons


def _damage(row: int, names: dict[str, dict[int, str]], reasons: dict[str, str]) -> Damage:
    return Damage(
        "document",
        "; ".join(reasons.values()),
        row,
        names["id"].get(row, ""),
        names["path"].get(row, ""),
        tuple(reasons),
    )


def _database(database: Database) -> Iterator[Damage]:
    """What SQLite's own checks find, and what every opening looks at."""
    lines: list[str] = []
    for pragma in ("integrity_check", "foreign_key_check"):
        try:
            lines += [" ".join(map(str, row)) for row in database.rows(f"PRAGMA {pragma}")]
        except CorpusError as error:
            lines.append(str(error.__cause__ or error))
    problems = [" ".join(line.split()) for line in lines if line != "ok"]
    if problems:
        more = f" and {len(problems) - _LINES} more" if len(problems) > _LINES else ""
        yield Damage("database", "; ".join(problems[:_LINES]) + more)
    try:
        require_sound_start(database)
        _require_sound_sequence(database)
    except CorpusError as error:
        yield Damage("database", str(error).split("(", 1)[-1].split(")")[0])


def _require_sound_sequence(database: Database) -> None:
    """Row numbers must go up, or an old one would be used again."""
    for table, sequence in database.rows("SELECT name, seq FROM sqlite_sequence"):
        if table in {"documents", "passages"}:
            ((last,),) = database.rows(f"SELECT coalesce(max(row), 0) FROM {table}")  # noqa: S608
            if not isinstance(sequence, int) or not last <= sequence < _MAX_ROW:
                raise _refusal(database, f"row numbers of {table} would be used again")


def _fingerprint(database: Database) -> Iterator[Damage]:
    try:
        fingerprint_of(database)
    except (CorpusError, ValueError, TypeError):
        yield Damage("fingerprint", "how the vectors were made is not as it was written")


def _collections(database: Database) -> Iterator[Damage]:
    """Collections and memberships that are not as they were written, or that are lost."""
    faults = {
        "{} of the collections are not as they were written": (
            f"SELECT count(*) FROM collections WHERE checksum != {COLLECTION_CHECKSUM}"  # noqa: S608
        ),
        "{} of the memberships are not as they were written": (
            f"SELECT count(*) FROM memberships WHERE checksum != {MEMBERSHIP_CHECKSUM}"  # noqa: S608
        ),
        "{} documents are in no collection": (
            "SELECT count(*) FROM documents WHERE row NOT IN (SELECT document FROM memberships)"
        ),
    }
    yield from _counted("collections", faults, database)


def _counted(what: str, faults: dict[str, str], database: Database) -> Iterator[Damage]:
    """A damage for each statement that counts any."""
    for fault, statement in faults.items():
        try:
            ((number,),) = database.rows(statement)
        except CorpusError as error:
            yield Damage(what, f"cannot be read ({error.__cause__ or error})")
            return
        if number:
            yield Damage(what, fault.format(number))


def _facts(database: Database) -> Iterator[Damage]:
    """Dates, names of speakers, figures, readings of pictures that are not as they were written."""
    faults = {
        "{} of the facts (dates, speakers' names) are not as they were written": (
            f"SELECT count(*) FROM facts WHERE checksum != {FACT_CHECKSUM}"  # noqa: S608
        ),
        "{} of the figures and readings of pictures are not as they were written": (
            f"SELECT count(*) FROM blobs WHERE checksum != {BLOB_CHECKSUM}"  # noqa: S608
        ),
    }
    yield from _counted("facts", faults, database)


def _derived(database: Database) -> Iterator[Damage]:
    """What is derived from places and facts, and is not what it should be."""
    faults = {
        f"{{}} {table} are not those of the documents": (
            f"SELECT (SELECT count(*) FROM ({now} EXCEPT SELECT * FROM {table}))"  # noqa: S608
            f" + (SELECT count(*) FROM (SELECT * FROM {table} EXCEPT {now}))"
        )
        for table, now in DERIVED.items()
    }
    yield from _counted("collections", faults, database)


def _document(database: Database, row: int, fingerprint: Fingerprint | None) -> dict[str, str]:
    """What is wrong with the parts of a document; checksums first, then their meaning."""
    reasons = damaged_parts(database, row)
    for part, meaning in (("record", _record), ("passages", _passages), ("vectors", _vectors)):
        if part in reasons:
            continue
        try:
            reason = meaning(database, row, fingerprint)
        except (CorpusError, ValueError, TypeError, IndexError) as error:
            reason = f"{part} cannot be read ({error})"
        if reason:
            reasons[part] = reason
    return reasons


def _record(database: Database, row: int, _: Fingerprint | None) -> str:
    statement = "SELECT digest, title, text, turns, pages, metadata FROM documents WHERE row = ?"
    ((digest, title, text, utterances, pages, metadata),) = database.rows(statement, [row])
    if metadata:  # its digest is of whoever keeps metadata with it
        return ""
    spoken = [Utterance(*one) for one in json.loads(utterances)]
    paged = [Page(*one) for one in json.loads(pages)]
    spans = [(one.start, one.end) for one in spoken] + [(one.start, one.end) for one in paged]
    if any(not 0 <= start <= end <= len(text) for start, end in spans):
        return "utterances or pages lie outside the text"
    digests = (content_digest(text, spoken, paged, title=one) for one in (None, title))
    return "" if digest in digests else "text differs from its digest"


def _passages(database: Database, row: int, _: Fingerprint | None) -> str:
    # Not in one statement, which would measure the text again for each passage.
    ((length,),) = database.rows("SELECT length(text) FROM documents WHERE row = ?", [row])
    spans = database.rows('SELECT start, "end" FROM passages WHERE document = ?', [row])
    sound = spans and all(0 <= start < end <= length for start, end in spans)
    return "" if sound else "passages lie outside the text"


def _vectors(database: Database, row: int, fingerprint: Fingerprint | None) -> str:
    statement = (
        "SELECT vector, vectors,"
        " (SELECT count(*) FROM passages WHERE passages.document = documents.row)"
        " FROM documents JOIN passage_vectors ON passage_vectors.document = documents.row"
        " WHERE documents.row = ?"
    )
    ((whole, parts, passages),) = database.rows(statement, [row])
    vector, vectors = np.frombuffer(whole, "<f4"), np.frombuffer(parts, "<f4")
    if fingerprint is not None and len(vector) != fingerprint.dimension:
        return f"a vector of {len(vector)} numbers, not {fingerprint.dimension}"
    if len(vectors) != passages * len(vector):
        return "not as many vectors as passages"
    norms = np.linalg.norm(np.vstack([vector, vectors.reshape(passages, -1)]), axis=1)
    foreign = fingerprint is not None and fingerprint.model.startswith(FOREIGN)
    zero_or_unit = (norms == 0) | (abs(norms - 1) < UNIT)
    sound = np.isfinite(norms).all() and (foreign or zero_or_unit.all())
    return "" if sound else "vectors are not of unit length"


_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema"


@lru_cache(maxsize=1)
def _schema() -> frozenset[tuple[Any, ...]]:
    """What the migrations make."""
    with closing(sqlite3.connect(":memory:")) as connection:
        register(connection)
        for statement in chain.from_iterable(MIGRATIONS):
            connection.execute(statement)
        return frozenset(connection.execute(_SCHEMA))


def _refusal(database: Database, reason: str) -> CorpusDamaged:
    return CorpusDamaged(
        f"{database.path}: damaged ({reason}); run: rag-app verify --repair; or restore a backup"
    )
