"""Collections: named sets of documents with an owner. A document is in one or several.

What a document is called and where it lies belongs to the membership: two people may have the same
text under different names. Its own record has its place in the first; it goes with its last one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from indexing.change_detection import DocumentIdentity
from indexing.errors import CollectionNotFound, InvalidRequest
from indexing.filter import Scope
from indexing.message import N_, joined
from indexing.store.database import Database
from indexing.store.derived.derivation import derive

DEFAULT = "default"
"""The collection of whatever is added without naming one; everybody's."""

RECOVERED = "recovered"
"""The collection of documents whose own a repair could not tell."""

NOBODY = ":nobody"
"""The owner of it: no login has a colon, so that nobody sees by a repair what was private."""

MAX_NAME = 100  # characters

MEMBERSHIP_CHECKSUM = (
    "checksum(document, collection, CAST(path AS BLOB), CAST(part AS BLOB), CAST(title AS BLOB))"
)
COLLECTION_CHECKSUM = "checksum(row, CAST(name AS BLOB), CAST(owner AS BLOB), shared)"


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents.

    Attributes:
        name: Unique in the corpus.
        owner: Login name; None where it is everybody's.
        shared: Whether others than its owner may read it.
        documents: How many it holds.
    """

    name: str
    owner: str | None
    shared: bool
    documents: int = 0

    def readable_by(self, scope: Scope) -> bool:
        """Whether it may be searched, read and asked."""
        return scope.login is None or self.shared or self.owner in {None, scope.login}

    def changeable_by(self, person: str | None) -> bool:
        """Whether a person may add to it and remove from it; None stands for no limit."""
        return person is None or self.owner in {None, person}


@dataclass(frozen=True, slots=True)
class Membership:
    """The place of a document in a collection."""

    collection: int  # row number of the collection
    path: str  # of the file that it came from there
    part: str  # which document of the file
    title: str  # what it is called there


class Collections:
    """The collections of a database, and which documents are in them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Reading

    def all(self) -> list[Collection]:
        """All collections, in the order in which they were made."""
        rows = self._database.rows(
            "SELECT name, owner, shared,"
            " (SELECT count(*) FROM memberships WHERE collection = collections.row)"
            " FROM collections ORDER BY row"
        )
        return [Collection(name, owner, bool(shared), many) for name, owner, shared, many in rows]

    def named(self, name: str) -> Collection:
        """The collection of a name.

        Raises:
            CollectionNotFound: There is none.
        """
        row = self.row(name)
        if row is None:
            raise _unknown(name, [one.name for one in self.all()])
        ((stored, owner, shared, documents),) = self._database.rows(
            "SELECT name, owner, shared, (SELECT count(*) FROM memberships WHERE collection = ?)"
            " FROM collections WHERE row = ?",
            [row, row],
        )
        return Collection(stored, owner, bool(shared), documents)

    def row(self, name: str) -> int | None:
        """The row number of a collection; None where there is none of that name."""
        rows = self._database.rows("SELECT row FROM collections WHERE name = ?", [_normal(name)])
        return int(rows[0][0]) if rows else None

    def readable(self, names: Sequence[str], scope: Scope) -> tuple[int, ...] | None:
        """Row numbers of the collections of these names that somebody may read; None for no limit.

        Args:
            names: None of them for all.
            scope: What they may read.

        Raises:
            CollectionNotFound: A name stands for none of them.
        """
        if not names and scope.login is None:
            return None
        rows = self._database.rows("SELECT row, name, owner, shared FROM collections ORDER BY row")
        readable = {
            name: row
            for row, name, owner, shared in rows
            if Collection(name, owner, bool(shared)).readable_by(scope)
        }
        for name in names:
            if _normal(name) not in readable:
                raise _unknown(name, list(readable))
        selection = set(map(_normal, names)) or set(readable)
        return tuple(row for name, row in readable.items() if name in selection)

    def holding(self, id_: str) -> list[Collection]:
        """The collections that hold a document, first made first."""
        rows = self._database.rows(
            "SELECT name FROM collections JOIN memberships ON collection = collections.row"
            " WHERE document = (SELECT row FROM documents WHERE id = ?) ORDER BY collections.row",
            [id_],
        )
        names = {name for (name,) in rows}
        return [one for one in self.all() if one.name in names]

    def only(self, name: str) -> list[str]:
        """Ids of the documents that are in this collection and in no other."""
        rows = self._database.rows(
            "SELECT id FROM documents JOIN memberships AS own ON own.document = documents.row"
            " WHERE own.collection = ? AND NOT EXISTS (SELECT 1 FROM memberships"
            " WHERE document = documents.row AND collection != own.collection)"
            " ORDER BY documents.row",
            [self.row(name)],
        )
        return [id_ for (id_,) in rows]

    def memberships(self, document: int) -> list[Membership]:
        """The memberships of a document, by row number; first made collection first."""
        rows = self._database.rows(
            "SELECT collection, path, part, title FROM memberships WHERE document = ?"
            " ORDER BY collection",
            [document],
        )
        return [Membership(*row) for row in rows]

    def memberships_of(self, id_: str) -> list[Membership]:
        """The same by id of the document; none where there is no such document."""
        rows = self._database.rows("SELECT row FROM documents WHERE id = ?", [id_])
        return [one for (row,) in rows for one in self.memberships(row)]

    # Writing collections

    def create(self, name: str, *, owner: str | None = None, shared: bool = False) -> Collection:
        """Make an empty collection.

        Raises:
            InvalidRequest: The name or the owner is none, or the name is taken.
        """
        name, owner = collection_name(name), None if owner is None else owner_name(owner)
        if name == DEFAULT and owner is not None:
            raise InvalidRequest(f"{DEFAULT}: belongs to everybody; give another name")
        with self._writing():
            self._require_free(name)
            self.ensure(name, owner=owner, shared=shared)
        return Collection(name, owner, shared)

    def claim(self, name: str, owner: str) -> None:
        """Make an empty collection of an owner, who may have it already.

        Raises:
            InvalidRequest: It is another owner's, or the name or the owner is none.
        """
        if self.row(name) is None:
            self.create(name, owner=owner)
        elif self.named(name).owner != owner:
            raise InvalidRequest(f"{name}: belongs to somebody else; give another name")

    def create_as(self, name: str, like: Collection) -> None:
        """Make an empty collection with the owner of another, who may be nobody."""
        with self._writing():
            self.ensure(name, owner=like.owner, shared=like.shared)

    def rename(self, name: str, to: str) -> None:
        """Give a collection another name.

        Raises:
            CollectionNotFound: There is none of that name.
            InvalidRequest: The new name is none, or taken.
        """
        before, to = self.named(name), collection_name(to)
        with self._writing():
            if to != before.name:
                self._require_free(to)
            self._update(before.name, "name = ?", to)

    def share(self, name: str, *, shared: bool = True) -> None:
        """Let others than the owner read a collection, or no more.

        Raises:
            CollectionNotFound: There is none of that name.
        """
        before = self.named(name)
        with self._writing():
            self._update(before.name, "shared = ?", int(shared))

    def give(self, name: str, owner: str | None) -> None:
        """Give a collection to another owner; None makes it everybody's.

        Raises:
            CollectionNotFound: There is none of that name.
            InvalidRequest: The owner is none, or the collection is that of everybody.
        """
        before = self.named(name)
        if owner is not None:
            owner = owner_name(owner)
            if before.name == DEFAULT:
                raise InvalidRequest(f"{DEFAULT}: belongs to everybody; make another collection")
        with self._writing():
            self._update(before.name, "owner = ?", owner)

    def add(self, ids: Iterable[str], name: str, *, person: str | None = None) -> int:
        """Put documents of the corpus into a collection too; how many were not in it.

        Args:
            ids: Of the documents.
            name: Of the collection.
            person: By whose names for them, as others may have the same texts privately; None for
                those of their records.

        Raises:
            CollectionNotFound: There is none of that name.
        """
        row = self.row(self.named(name).name)
        assert row is not None
        owners = self._database.rows("SELECT row, owner FROM collections")
        own = {number for number, owner in owners if person and owner in {person, None}}
        count, inside = 0, "SELECT document FROM memberships WHERE collection = ?"
        with self._writing():
            for id_ in dict.fromkeys(ids):
                for document, *place in self._database.rows(
                    "SELECT row, path, part, title FROM documents"
                    f" WHERE id = ? AND row NOT IN ({inside})",
                    [id_, row],
                ):
                    mine = (one for one in self.memberships(document) if one.collection in own)
                    before = next(mine, Membership(row, *place))
                    self.put(document, [replace(before, collection=row)])
                    count += 1
        return count

    # For the store, within its transactions

    def ensure(self, name: str, *, owner: str | None = None, shared: bool = False) -> int:
        """The row number of a collection, which is made where there is none."""
        row = self.row(name)
        if row is None:
            row = self._database.run(
                "INSERT INTO collections (name, owner, shared, checksum) VALUES (?, ?, ?, 0)",
                [collection_name(name), owner, int(shared)],
            )
            self._seal(row)
        return row

    def home(self) -> int:
        """Where documents go whose collection is lost: everybody's if all are, else nobody's."""
        everybodys = all(one.owner is None for one in self.all())
        return self.ensure(DEFAULT) if everybodys else self.ensure(RECOVERED, owner=NOBODY)

    def put(self, document: int, memberships: Sequence[Membership]) -> None:
        """Put a document into collections, or change its place in them."""
        self._database.run_all(
            "INSERT INTO memberships VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE"
            " SET path = excluded.path, part = excluded.part, title = excluded.title",
            [[document, one.collection, one.path, one.part, one.title] for one in memberships],
        )
        sealed = f"UPDATE memberships SET checksum = {MEMBERSHIP_CHECKSUM} WHERE document = ?"
        self._database.run(sealed, [document])

    def place(self, document: int, to: DocumentIdentity, *, collection: str | None) -> None:
        """Change the place of a document in a collection; None where it is as its record says."""
        rows = self._database.rows(
            "SELECT path, part, title FROM documents WHERE row = ?", [document]
        )
        before, row = tuple(rows[0]), None if collection is None else self.row(collection)
        changed = [
            Membership(one.collection, to.path, to.part, to.title)
            for one in self.memberships(document)
            if one.collection == row or (row is None and (one.path, one.part, one.title) == before)
        ]
        self.put(document, changed)

    def raise_count(self) -> None:
        """Count a change of collections."""
        self._database.run("UPDATE meta SET value = value + 1 WHERE key = 'collections'")

    def repair(self) -> None:
        """Drop what is not as it was written; nobody sees by that what was private."""
        damaged = f"SELECT row FROM collections WHERE checksum != {COLLECTION_CHECKSUM}"
        with self._writing():
            self._database.run(f"DELETE FROM memberships WHERE checksum != {MEMBERSHIP_CHECKSUM}")
            for (row,) in self._database.rows(damaged):
                self._database.run(
                    "UPDATE collections SET name = ?, owner = ?, shared = 0 WHERE row = ?",
                    [f"{RECOVERED} {row}", NOBODY, row],
                )
                self._seal(row)
            self.bring_home()
            derive(self._database)

    def bring_home(self) -> None:
        """Put documents that are in no collection into one."""
        lost = "SELECT row, path, part, title FROM documents WHERE row NOT IN"
        for document, *place in self._database.rows(f"{lost} (SELECT document FROM memberships)"):
            self.put(document, [Membership(self.home(), *place)])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._database.writing():
            yield
            self.raise_count()

    def _require_free(self, name: str) -> None:
        if self.row(name) is not None:
            taken = N_("%(name)s: there is a collection of this name; give another", name=name)
            raise InvalidRequest(taken)

    def _update(self, name: str, change: str, value: object) -> None:
        row = self.row(name)
        assert row is not None
        self._database.run(f"UPDATE collections SET {change} WHERE row = ?", [value, row])
        self._seal(row)

    def _seal(self, row: int) -> None:
        statement = f"UPDATE collections SET checksum = {COLLECTION_CHECKSUM} WHERE row = ?"
        self._database.run(statement, [row])


def collection_name(name: str) -> str:
    """A name from outside as it is stored: one line, white space as single blanks.

    Raises:
        InvalidRequest: Nothing is left of it, it is too long, or it has invisible characters.
    """
    plain = _normal(name)
    if not plain or len(plain) > MAX_NAME or not plain.isprintable():
        reason = N_("%(name)s: no name for a collection", name=ascii(name[:MAX_NAME]))
        remedy = N_("give 1 to %(most)s visible characters on one line", most=MAX_NAME)
        raise InvalidRequest(joined([reason, remedy]))
    return plain


def owner_name(name: str) -> str:
    """The login name of an owner.

    Raises:
        InvalidRequest: It cannot be one.
    """
    if not name.isprintable() or not 0 < len(name) <= MAX_NAME or ":" in name:
        raise InvalidRequest(f"{name[:MAX_NAME]!a}: no login name; give one without a colon")
    return name


def _normal(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def _unknown(name: str, known: Sequence[str]) -> CollectionNotFound:
    shown = ", ".join(known) or "none"
    return CollectionNotFound(f"{_normal(name)}: no such collection; there are: {shown}")
