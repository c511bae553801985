"""The index of when documents are of and who takes part: no other document is read."""

from __future__ import annotations

import json
from collections.abc import Sequence

from indexing.cached_property import cached_property
from indexing.filter import Filter
from indexing.store.database import Database

_FIRST, _LAST = "\x01", "\U0010ffff"


class Occasions:
    """The index in a database at one moment; of the collections of these rows, None for all."""

    def __init__(self, database: Database, scope: tuple[int, ...] | None) -> None:
        self._database = database
        self._here = "SELECT row FROM collections"
        if scope is not None:
            self._here += f" WHERE row IN ({', '.join(map(str, scope))})"

    @cached_property
    def first(self) -> str:
        """The first day of any document; "" where none has a date."""
        return self._bound("d")

    @cached_property
    def last(self) -> str:
        """The last day of any document; "" where none has a date."""
        return self._bound("d", order="DESC")

    @cached_property
    def last_spoken(self) -> str:
        """The last day of a document in which somebody speaks; "" where none of these has one."""
        return self._bound("s", order="DESC")

    @property
    def all_spoken_dated(self) -> bool:
        """Whether every document in which somebody speaks has a date."""
        statement = f"SELECT 1 FROM occasions WHERE collection IN ({self._here}) AND key = 's'"  # noqa: S608
        return not self._database.rows(f"{statement} LIMIT 1")

    def latest_year(self, end: str) -> str:
        """The latest year with a document of a month or day, such as "-03" or "-03-14"; or ""."""
        year = self.last[:4]
        while year and not self._bound("d", f"{year}{end}", f"{year}{end}{_LAST}"):
            year = self._bound("d", until=year, order="DESC")[:4]
        return year

    @cached_property
    def people(self) -> frozenset[str]:
        """Everybody who takes part or speaks in any; each is read once, in however many."""
        statement = (
            "SELECT key FROM occasions WHERE collection = ? AND key > ? AND key < 'q'"
            " ORDER BY key LIMIT 1"
        )
        people = set[str]()
        for (collection,) in self._database.rows(self._here):
            key = "p"
            while rows := self._database.rows(statement, [collection, key]):
                ((key,),) = rows
                people.add(key[1:])
        return frozenset(people)

    def days(self) -> dict[int, str]:
        """The day of every document that has one, by row."""
        rows = self._database.each(
            f"SELECT document, key FROM occasions WHERE collection IN ({self._here})"  # noqa: S608
            f" AND key >= 'd{_FIRST}' AND key < 'e'"
        )
        return {row: key[1:] for row, key in rows}

    def dated(self, since: str | None, until: str | None) -> set[int]:
        """Rows of the documents of a time: days, months or years, the first and the last of it."""
        bounds = f"d{since or _FIRST}", f"d{until or ''}{_LAST}"
        return self._documents("key >= ? AND key < ?", bounds)

    def spoken(self) -> set[int]:
        """Rows of the documents in which somebody speaks."""
        return self._documents("key >= 's' AND key < 't'", ())

    def taking_part(self, where: Filter) -> set[int]:
        """Rows of the documents in which all participants of a filter take part or speak."""
        rows = set[int]()
        for number, name in enumerate(where.participants):
            values = [json.dumps([f"p{one}" for one in self.called(name)])]
            found = self._documents("key IN (SELECT value FROM json_each(?))", values)
            rows = rows & found if number else found
        return rows

    def called(self, participant: str) -> list[str]:
        """Those people whom a participant of a filter means."""
        one = Filter(participants=(participant,))
        return [
            each for each in self.people if one.admits(id_="", title="", path="", people=(each,))
        ]

    @property
    def undated(self) -> int:
        """How many documents have no date."""
        return len(self._documents("key = 'd'", ()))

    def _documents(self, condition: str, values: Sequence[object]) -> set[int]:
        statement = f"SELECT document FROM occasions WHERE collection IN ({self._here})"  # noqa: S608
        return {row for (row,) in self._database.rows(f"{statement} AND {condition}", values)}

    def _bound(self, kind: str, since: str = _FIRST, until: str = _LAST, order: str = "ASC") -> str:
        """What follows the letter of the first key from one to before another, or of the last."""
        best = "max" if order == "DESC" else "min"
        rows: Sequence[tuple[str | None]] = self._database.rows(
            f"SELECT {best}((SELECT key FROM occasions WHERE collection = here.row AND key >= ?"  # noqa: S608
            f" AND key < ? ORDER BY key {order} LIMIT 1)) FROM ({self._here}) AS here",
            [f"{kind}{since}", f"{kind}{until}"],
        )
        return (rows[0][0] or "")[1:]
