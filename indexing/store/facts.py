"""Facts: what is stored about a document beside its text, by name, as JSON.

Its occasion, the names that people gave to its speakers, its figures. They belong to the document,
in whatever collections it is. One table holds them all, so that a further one needs no migration;
and so that the schema stays within the first page of the file, from which a database that was cut
short is repaired.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from indexing.documents import NO_OCCASION, Occasion
from indexing.store.database import Database

OCCASION = "occasion"  # an object of its fields
SPEAKER_NAMES = "speakers"  # {label in the file: name}
PICTURES = "pictures"  # [key of a blob: what OCR has read in a picture]
LISTED = "listed"  # [characters, words, tokens, when it was added, passages, who speaks in it]
GROWN = "grown"  # true, of a document that was changed last by text at its end
FIGURES = "figures"  # [{field of a figure; key: of its blob}]

SPEAKERS_NOW = (
    "(SELECT json_group_array(DISTINCT value) FROM passages, json_each(speakers)"
    " WHERE document = documents.row)"
)
"""Who speaks in a document as it is."""

LISTED_NOW = (
    "json_array(length(text), words, tokens, added,"
    " (SELECT count(*) FROM passages WHERE document = documents.row),"
    f" json({SPEAKERS_NOW}))"
)
"""What `LISTED` holds, of a document as it is."""

FACT_CHECKSUM = "checksum(document, CAST(name AS BLOB), CAST(value AS BLOB))"


def column(name: str) -> str:
    """A column of a document: the JSON of a fact, or NULL."""
    return f"(SELECT value FROM facts WHERE facts.document = documents.row AND name = '{name}')"


class Facts:
    """The facts in a database, by document row; whoever writes has a transaction open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, row: int, name: str, value: object) -> None:
        """Keep a fact in place of the one of that name; an empty one is none."""
        self._database.run("DELETE FROM facts WHERE document = ? AND name = ?", [row, name])
        if value:
            text = json.dumps(value, ensure_ascii=False)
            self._database.run("INSERT INTO facts VALUES (?, ?, ?, 0)", [row, name, text])
            self._database.run(
                f"UPDATE facts SET checksum = {FACT_CHECKSUM} WHERE document = ? AND name = ?",
                [row, name],
            )

    def get(self, row: int, name: str) -> Any:  # noqa: ANN401 - JSON
        """A fact of a document; None where there is none."""
        rows = self._database.rows(
            "SELECT value FROM facts WHERE document = ? AND name = ?", [row, name]
        )
        return json.loads(rows[0][0]) if rows else None

    def put_occasion(self, row: int, occasion: Occasion) -> None:
        """Keep the occasion of a document."""
        self.put(row, OCCASION, asdict(occasion) if occasion else None)

    def list_now(self, row: int) -> None:
        """Keep what lists show of a document as it is, so that they read no text."""
        statement = f"SELECT {LISTED_NOW} FROM documents WHERE row = ?"
        for (value,) in self._database.rows(statement, [row]):
            self.put(row, LISTED, json.loads(value))

    def copy(self, to: Database, row: int) -> None:
        """Copy the sound facts of a document to another database."""
        rows = self._database.rows(
            f"SELECT document, name, value, checksum FROM facts"
            f" WHERE document = ? AND checksum = {FACT_CHECKSUM}",
            [row],
        )
        to.run_all("INSERT INTO facts VALUES (?, ?, ?, ?)", rows)
        if all(name != LISTED for _, name, *_ in rows):
            Facts(to).list_now(row)

    def drop_damaged(self) -> list[int]:
        """Drop what is not as it was written; rows of the documents that lost something.

        Their files are read again by the next run of `index`, for their dates.
        """
        damaged = f"FROM facts WHERE checksum != {FACT_CHECKSUM}"
        rows = self._database.rows(f"SELECT DISTINCT document {damaged}")
        self._database.run_all(
            "DELETE FROM file_states WHERE (collection, path) IN"
            " (SELECT collection, path FROM memberships WHERE document = ?)",
            rows,
        )
        self._database.run(f"DELETE {damaged}")
        return [row for (row,) in rows]


def to_occasion(value: str | None) -> Occasion:
    """An occasion from its JSON."""
    if value is None:
        return NO_OCCASION
    fields = json.loads(value)
    return Occasion(**{**fields, "participants": tuple(fields["participants"])})
