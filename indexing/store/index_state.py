"""The manifest of the index: which segments there are, and what of them is outdated.

It lies in the database, so that a transaction shows documents and manifest at one moment. Triggers
note what comes and goes: a document that is in no segment yet is `unindexed`; a row is `outdated`
in the segments up to the latest there was when its document was removed or changed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from indexing.errors import ManifestDamaged
from indexing.store.database import Database


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment, as the manifest has it."""

    name: str  # of its file, which no other has
    size: int  # of the file, in bytes
    checksum: int  # CRC-32 of the file
    written: int  # when it was written, in ns
    documents: int  # how many it holds
    passages: int  # how many it holds


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a search reads at one moment."""

    segments: tuple[tuple[int, SegmentEntry], ...]  # each with its number, ascending
    # (row, number): what is no longer as the segments up to that number have it
    outdated: tuple[tuple[int, int], ...]

    def dead_in(self, number: int) -> list[int]:
        """Rows that are not as the segment of a number has them."""
        return [row for row, last in self.outdated if number <= last]


class IndexState:
    """The tables of the manifest in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def manifest(self) -> Manifest:
        """The latest, or that of the moment of the transaction.

        Raises:
            ManifestDamaged: An entry cannot be read.
        """
        entries = self._database.rows("SELECT number, entry FROM segments ORDER BY number")
        outdated = self._database.rows("SELECT row, segment FROM outdated ORDER BY row")
        with self._readable():
            return Manifest(
                tuple(
                    (_whole(number), SegmentEntry(**json.loads(text))) for number, text in entries
                ),
                tuple((_whole(row), _whole(last)) for row, last in outdated),
            )

    def unindexed(self) -> list[int]:
        """Rows of the documents that are in no segment yet, ascending.

        Raises:
            ManifestDamaged: One is no number.
        """
        rows = self._database.rows("SELECT row FROM unindexed ORDER BY row")
        with self._readable():
            return [_whole(row) for (row,) in rows]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (TypeError, ValueError) as error:
            raise ManifestDamaged(
                f"{self._database.path}: the manifest of its segments cannot be read ({error}); "
                "repair it with: rag-app verify --repair"
            ) from error

    @property
    def is_complete(self) -> bool:
        """Whether every document is in a segment."""
        return not self._database.rows("SELECT 1 FROM unindexed LIMIT 1")

    @property
    def latest(self) -> int:
        """The highest number that a segment has had."""
        rows = self._database.rows("SELECT seq FROM sqlite_sequence WHERE name = 'segments'")
        return int(rows[0][0]) if rows else 0

    # Writing

    def outdate(self, rows: Iterable[int]) -> None:
        """Note, within a transaction, that documents have changed where they are."""
        for row in rows:
            self._database.run("INSERT OR IGNORE INTO unindexed VALUES (?)", [row])
            self._database.run(
                "INSERT OR REPLACE INTO outdated"
                " SELECT ?, seq FROM sqlite_sequence WHERE name = 'segments'",
                [row],
            )

    def clear(self) -> None:
        """Forget all segments, within a transaction."""
        self._database.run("DELETE FROM segments")
        self._database.run("DELETE FROM outdated")
        self._database.run("DELETE FROM unindexed")
        self._database.run("INSERT INTO unindexed SELECT row FROM documents")

    def drop(self, numbers: Iterable[int], rows: Collection[int]) -> None:
        """Forget damaged segments, in one transaction; documents of these rows are unindexed."""
        with self._database.writing():
            self._delete(numbers)
            self.outdate(rows)
            self._database.run("DELETE FROM unindexed WHERE row NOT IN (SELECT row FROM documents)")

    def add(self, entry: SegmentEntry, rows: Sequence[int]) -> None:
        """Publish a segment of documents of these rows, as they were a moment ago.

        What has been removed since then is outdated in it.
        """
        with self._database.writing():
            number = self._insert(entry)
            listed = json.dumps([*map(int, rows)])
            self._database.run(
                "INSERT OR REPLACE INTO outdated SELECT value, ? FROM json_each(?)"
                " WHERE value NOT IN (SELECT row FROM documents)",
                [number, listed],
            )
            self._database.run(
                "DELETE FROM unindexed WHERE row IN (SELECT value FROM json_each(?))", [listed]
            )

    def replace(self, numbers: Sequence[int], entry: SegmentEntry | None, before: Manifest) -> bool:
        """Publish a segment in the place of those that it was made of, as of a manifest.

        What has become outdated in these since then is outdated in it.

        Returns:
            Whether they were still there, and nothing of them has been indexed again since; if not,
            nothing is published.
        """
        known = dict(before.outdated)
        with self._database.writing():
            now = self.manifest()
            if not {*numbers} <= {number for number, _ in now.segments}:
                return False
            later = [row for row, last in now.outdated if known.get(row, -1) < last]
            if self._indexed_again(later):
                return False
            self._delete(numbers)
            if entry is not None:
                number = self._insert(entry)
                self._database.run_all(
                    "UPDATE outdated SET segment = ? WHERE row = ?", [(number, r) for r in later]
                )
            self._database.run(
                "DELETE FROM outdated WHERE segment <"
                " (SELECT coalesce(min(number), 1 << 60) FROM segments)"
            )
        return True

    def _indexed_again(self, rows: Sequence[int]) -> bool:
        """Whether any of some documents that have changed where they are is in a later segment."""
        statement = (
            "SELECT 1 FROM documents WHERE row IN (SELECT value FROM json_each(?))"
            " AND row NOT IN (SELECT row FROM unindexed) LIMIT 1"
        )
        return bool(self._database.rows(statement, [json.dumps([*rows])]))

    def _insert(self, entry: SegmentEntry) -> int:
        text = json.dumps(asdict(entry))
        return self._database.run("INSERT INTO segments (entry) VALUES (?)", [text])

    def _delete(self, numbers: Iterable[int]) -> None:
        self._database.run_all("DELETE FROM segments WHERE number = ?", [(n,) for n in numbers])


def _whole(value: object) -> int:
    """A number of a row or segment, of which a damaged database may make anything."""
    if not isinstance(value, int):
        raise ValueError(f"{value!r} where a whole number was")
    return value
