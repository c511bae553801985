"""The index of what documents are called: found without reading the names of other documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from indexing.store.database import Database

NameKind = Literal["n", "b", "t"]
"""As in `name_keys`: a whole name, a beginning, a word of a title."""

_LAST = "\U0010ffff"


class Names:
    """The index in a database; of the collections of these rows, None for all."""

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
        here = self._here
        rows = self._database.rows(
            f"SELECT DISTINCT document FROM names WHERE key = ?{here} AND collection ="  # noqa: S608
            f" (SELECT min(collection) FROM memberships WHERE document = names.document{here})"
            " LIMIT ?",
            [kind + name, most],
        )
        return sorted(row for (row,) in rows)

    def likely(self, name: str, folder: str = _LAST) -> list[int]:
        """Rows of the documents that have a name, or one that begins as a folder's, anywhere."""
        rows = self._database.rows(
            "SELECT DISTINCT document FROM names"  # noqa: S608
            f" WHERE (key = ? OR (key >= ? AND key < ?)){self._here}",
            [f"n{name}", f"n{folder}", f"n{folder}{_LAST}"],
        )
        return sorted(row for (row,) in rows)

    @property
    def _here(self) -> str:
        if self._scope is None:
            return ""
        return f" AND collection IN ({', '.join(map(str, self._scope))})"
