"""The index of what documents are called: found without reading the names of other documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from indexing.store.database import Database

NameKind = Literal["n", "b", "t"]
"""As in `name_keys`: a whole name, a beginning, a word of a title."""

_LAST = "\U0010ffff"


class Names:
    """The index in a database.

    Args:
        database: Where it is.
        scope: Rows of the collections whose names count; None for all.
    """

    def __init__(self, database: Database, scope: tuple[int, ...] | None) -> None:
        self._database, self._scope = database, scope

    def within(self, words: Sequence[str], kind: NameKind, *, longest: int) -> set[str]:
        """Every row of some words, its letters side by side, that anything is called by."""
        found = set[str]()
        for start in range(len(words)):
            for end in range(start + 1, min(start + longest, len(words)) + 1):
                row = "".join(words[start:end])
                following = self._next(kind + row)
                if following == kind + row:
                    found.add(row)
                elif not following.startswith(kind + row):
                    break
        return found

    def _next(self, key: str) -> str:
        """The first key from one on; "" after the last."""
        statement = "SELECT key FROM names WHERE key >= ? ORDER BY key LIMIT 1"
        rows = self._database.rows(statement, [key])
        return str(rows[0][0]) if rows else ""

    def documents(self, kind: NameKind, name: str, *, most: int) -> list[int]:
        """Rows of the documents that are called so here, ascending; no more than so many."""
        return self._rows("key = ?", [kind + name], most)

    def documents_beginning(self, name: str) -> list[int]:
        """Rows of the documents that have a name which begins so."""
        return self._rows("key >= ? AND key < ?", [f"n{name}", f"n{name}{_LAST}"], -1)

    def _rows(self, condition: str, keys: list[str], most: int) -> list[int]:
        among = ", ".join(map(str, self._scope or ()))
        here = "" if self._scope is None else f" AND collection IN ({among})"
        rows = self._database.rows(
            f"SELECT DISTINCT document FROM names WHERE {condition}{here} AND collection ="  # noqa: S608
            f" (SELECT min(collection) FROM memberships WHERE document = names.document{here})"
            " LIMIT ?",
            [*keys, most],
        )
        return sorted(row for (row,) in rows)
