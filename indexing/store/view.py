"""A read-only view of a store: documents, passages and vectors, limited by a scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from indexing.change_detection import DocumentIdentity
from indexing.documents import NO_OCCASION, Document, Figure, Occasion, Page
from indexing.encoder.fingerprint import Fingerprint
from indexing.errors import DocumentNotFound
from indexing.filter import OWNER, Filter, Scope
from indexing.message import N_
from indexing.page_names import page_name
from indexing.store.collections import Collections
from indexing.store.database import Database
from indexing.store.derived.names import Names
from indexing.store.derived.occasions import Occasions
from indexing.store.facts import (
    FIGURES,
    GROWN,
    LISTED,
    LISTED_NOW,
    OCCASION,
    SPEAKERS_NOW,
    Facts,
    column,
    to_occasion,
)
from indexing.store.index_state import IndexState
from indexing.store.meta import Meta
from indexing.store.pictures import Pictures
from indexing.store.records.document import DOCUMENT, to_document
from indexing.store.records.passages import PassageReading, among

FEW = 200  # documents that are looked up one by one, a page of the file for each
LIVE = 300.0  # seconds for which a document that grew counts as being written


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """What a list of documents shows: everything but text and vectors.

    `grown` says that what was added last, when it was `added`, is text at its end.
    """

    id: str
    path: str
    part: str
    title: str
    format: str
    characters: int
    words: int
    tokens: int
    passages: int
    added: str
    collections: tuple[str, ...] = ()
    occasion: Occasion = NO_OCCASION
    grown: bool = False

    @property
    def live(self) -> float:
        """Seconds for which it still counts as being written; 0 where it does not."""
        if not self.grown:
            return 0.0
        age = datetime.now(UTC) - datetime.fromisoformat(self.added).astimezone(UTC)
        return max(0.0, LIVE - age.total_seconds())


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """What a question may call a document by."""

    id: str
    path: str
    part: str
    title: str
    occasion: Occasion
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentName:
    """What a hit says of its document."""

    id: str
    path: str
    part: str
    title: str
    day: str = ""


class StoreView(PassageReading):
    """The documents of some collections, or of all, to be read.

    Attributes:
        collections: The collections, and which documents are in them.
        facts: What is kept of documents beside their texts.
        meta: What counts changes, and how vectors were made.
        scope: Row numbers of the collections whose documents are read here, with the names they
            have there; None for the whole corpus.
    """

    def __init__(self, database: Database, scope: tuple[int, ...] | None = None) -> None:
        super().__init__(database, scope)
        self.collections = Collections(database)
        self.facts = Facts(database)
        self.index = IndexState(database)
        self.meta = Meta(database)

    def reading(self) -> AbstractContextManager[None]:
        """Everything read inside sees the corpus at one moment, whatever is written meanwhile."""
        return self.database.reading()

    def limited(self, where: Filter | None, scope: Scope) -> StoreView:
        """The same store with the documents of a filter's collections that somebody may read.

        Raises:
            CollectionNotFound: The filter names one that is not there, or not to be read.
        """
        return self.within(self.collections.readable(where.collections if where else (), scope))

    def in_collections(self, where: Filter | None) -> StoreView:
        """The same store with the documents of a filter's collections, of those that are here.

        Raises:
            CollectionNotFound: The filter names one that is not there.
        """
        return self.limited(where, OWNER)

    def within(self, scope: tuple[int, ...] | None) -> StoreView:
        """The same store with the documents of the collections of these rows; None for all."""
        if scope is None:
            return self
        return StoreView(
            self.database, scope if self.scope is None else tuple({*scope} & {*self.scope})
        )

    def of(self, collection: str) -> StoreView:
        """The same store with the documents of one collection; with none where there is none."""
        row = self.collections.row(collection)
        return self.within(() if row is None else (row,))

    # State

    @property
    def generation(self) -> int:
        """Raised by every commit that changes documents."""
        return self.meta.generation

    @property
    def stamp(self) -> str:
        """Drawn again by every commit: no two states share it, not even after a restored backup."""
        return self.meta.stamp

    @property
    def revision(self) -> str:
        """Another one after every change of documents or collections; cheap to ask for."""
        return self.meta.revision

    def fingerprint(self) -> Fingerprint | None:
        """How the vectors here were made; None before the first document."""
        return self.meta.fingerprint

    # Documents

    @property
    def pictures(self) -> Pictures:
        """Their figures, and what OCR has read in their pages."""
        return Pictures(self.database, self.document)

    def entries(self) -> list[DocumentEntry]:
        """All documents, in the order they were added."""
        here = "" if self.scope is None else f" AND collection IN ({self._rows})"
        rows = self.database.rows(
            f"SELECT id, path, part, title, format, coalesce({column(LISTED)}, {LISTED_NOW}),"
            " (SELECT json_group_array(name) FROM (SELECT name FROM memberships JOIN collections"
            " ON collections.row = memberships.collection"
            f" WHERE memberships.document = documents.row{here} ORDER BY collections.row)),"
            f" {column(OCCASION)}, {column(GROWN)} IS NOT NULL FROM {self._documents} ORDER BY row"
        )
        return [
            _entry(names, json.loads(listed), json.loads(collections), occasion, grown=bool(grown))
            for *names, listed, collections, occasion, grown in rows
        ]

    def identities(self) -> list[DocumentIdentity]:
        """Every document by its identity, by row."""
        columns = f"id, path, part, title, digest, {column(OCCASION)}"
        statement = f"SELECT {columns} FROM {self._documents} ORDER BY row"
        return [
            DocumentIdentity(id_, path, part, title, digest, to_occasion(occasion))
            for id_, path, part, title, digest, occasion in self.database.rows(statement)
        ]

    @property
    def names(self) -> Names:
        """What they are called."""
        return Names(self.database, self.scope)

    @property
    def occasions(self) -> Occasions:
        """When they are of and who takes part, at this moment."""
        return Occasions(self.database, self.scope)

    def named(self, rows: Sequence[int] | None = None) -> list[NamedDocument]:
        """Every document, or some, by row, from what is kept beside the texts."""
        speakers = f"coalesce(json_extract({column(LISTED)}, '$[5]'), {SPEAKERS_NOW})"
        columns = f"id, path, part, title, {column(OCCASION)}, {speakers}"
        source = self._places if rows is None else self._documents
        where, values = among("documents.row", rows)
        statement = f"SELECT {columns} FROM {source}{where} ORDER BY documents.row"
        return [
            NamedDocument(
                id_, path, part, title, to_occasion(occasion), tuple(json.loads(speaking))
            )
            for id_, path, part, title, occasion, speaking in self.database.each(statement, values)
        ]

    def digest(self, id_: str) -> str | None:
        """The content digest of a document; None when there is none by that id."""
        rows = self.database.rows("SELECT digest FROM documents WHERE id = ?", [id_])
        return str(rows[0][0]) if rows else None

    def digests(self) -> dict[str, tuple[str, str]]:
        """For each content digest: the id and path of the document that holds it."""
        rows = self.database.each(f"SELECT digest, id, path FROM {self._documents}")
        return {digest: (id_, path) for digest, id_, path in rows}

    def has(self, id_: str) -> bool:
        """Whether there is a document by that id."""
        return bool(self.database.rows(f"SELECT 1 FROM {self._documents} WHERE id = ?", [id_]))

    @property
    def is_empty(self) -> bool:
        """Whether there is no document."""
        rows = self.database.rows(f"SELECT EXISTS (SELECT 1 FROM {self._documents})")
        return not rows[0][0]

    def places(self, id_: str) -> list[tuple[str, str, str, str]]:
        """(collection, path, part, title) of a document in each collection that holds it."""
        statement = (
            "SELECT name, path, part, title FROM memberships JOIN collections"
            " ON collections.row = collection"
            " WHERE document = (SELECT row FROM documents WHERE id = ?) ORDER BY collection"
        )
        return self.database.rows(statement, [id_])

    def paths(self, id_: str) -> list[str]:
        """Where a document lies, in each collection that holds it."""
        memberships = self.collections.memberships_of(id_)
        return [
            one.path for one in memberships if self.scope is None or one.collection in self.scope
        ]

    def document(self, id_: str) -> Document:
        """A whole document.

        Raises:
            DocumentNotFound: There is none by that id.
        """
        rows = self.database.rows(f"SELECT {DOCUMENT} FROM {self._documents} WHERE id = ?", [id_])
        if not rows:
            missing = N_("%(name)s: no such document here; see: rag-app list", name=id_)
            raise DocumentNotFound(missing)
        return to_document(rows[0])

    def document_rows(
        self, ids: Sequence[str] | None = None
    ) -> list[tuple[int, str, str, str, str]]:
        """(row, id, path, part, title) of every document, or of some, by row."""
        where, values = among("id", ids)
        source = self._places if ids is None else self._documents
        statement = f"SELECT row, id, path, part, title FROM {source}{where} ORDER BY row"
        return self.database.rows(statement, values)

    def rows(self) -> list[int]:
        """The row of every document, ascending."""
        return [row for (row,) in self.database.rows(f"{self._row_numbers} ORDER BY row")]

    def is_larger_than(self, number: int) -> bool:
        """Whether there are more documents than so many."""
        rows = self.database.rows(f"{self._row_numbers} LIMIT ?", [number + 1])
        return len(rows) > number

    @property
    def _row_numbers(self) -> str:
        """What reads the row of every document, in any order, from where nothing else lies."""
        if self.scope is None:
            return "SELECT row FROM documents INDEXED BY sqlite_autoindex_documents_1"
        return (
            "SELECT DISTINCT document AS row FROM memberships INDEXED BY memberships_by_collection"
            f" WHERE collection IN ({self._rows})"
        )

    def documents_at(self, rows: Sequence[int]) -> list[DocumentName]:
        """The names of documents by row, in the order asked.

        Raises:
            CorpusDamaged: There is no such row.
        """
        columns = f"id, path, part, title, {column(OCCASION)}"
        statement = f"SELECT {columns} FROM {self._documents} WHERE row = ?"
        found = (self.database.row(statement, [row]) for row in rows)
        return [
            DocumentName(id_, path, part, title, to_occasion(occasion).day)
            for id_, path, part, title, occasion in found
        ]

    def ids(self, rows: Collection[int]) -> list[str]:
        """The ids of documents by row, ascending."""
        where, values = among("row", [*rows] if len(rows) <= FEW else None)
        index = "" if where else " INDEXED BY sqlite_autoindex_documents_1"
        found, wanted = (
            self.database.rows(f"SELECT row, id FROM documents{index}{where} ORDER BY row", values),
            {*rows},
        )
        return [id_ for row, id_ in found if row in wanted]

    def paths_of_all(self) -> list[tuple[int, str]]:
        """(row, path) of every document."""
        by_path = "documents INDEXED BY documents_by_path"
        return self.database.rows(
            f"SELECT row, path FROM {by_path if self.scope is None else self._places}"
        )

    def metadata(self) -> Iterator[tuple[int, str]]:
        """(row, metadata) of every document, by row."""
        return self.database.each(f"SELECT row, metadata FROM {self._documents} ORDER BY row")

    def texts(self, rows: Sequence[int] | None = None) -> Iterator[tuple[int, str]]:
        """(row, text) of every document, or of some, by row."""
        where, values = among("row", rows)
        statement = f"SELECT row, text FROM {self._documents}{where} ORDER BY row"
        return self.database.each(statement, values)

    def transcripts(self) -> frozenset[str]:
        """Ids of the documents in which somebody speaks."""
        return frozenset(self.ids(self.occasions.spoken()))

    def places_of_pages(self, id_: str, numbers: Iterable[int]) -> dict[int, str]:
        """What pages of a document are called, by number, as `Page.place` has it."""
        places = {number: page_name(f"page {number}") for number in numbers}
        if not places:
            return places
        rows = self.database.rows(
            f"SELECT value FROM {self._documents}, json_each(pages)"
            " WHERE documents.id = ? AND json_array_length(value) > 3",
            [id_],
        )
        named = (Page(*json.loads(values)) for (values,) in rows)
        return places | {page.number: page.place for page in named if page.number in places}

    def figures_of(self, id_: str) -> tuple[Figure, ...]:
        """The figures of a document without their data; its text is not read."""
        rows = self.database.rows(
            f"SELECT {column(FIGURES)} FROM {self._documents} WHERE documents.id = ?", [id_]
        )
        return tuple(Figure(**each) for (value,) in rows for each in json.loads(value or "[]"))


def _entry(
    names: Sequence[str],
    listed: Sequence[Any],
    collections: Sequence[str],
    occasion: str | None,
    *,
    grown: bool,
) -> DocumentEntry:
    id_, path, part, title, format_ = names
    characters, words, tokens, added, passages, _ = listed
    return DocumentEntry(
        id=id_,
        path=path,
        part=part,
        title=title,
        format=format_,
        characters=characters,
        words=words,
        tokens=tokens,
        passages=passages,
        added=added,
        collections=tuple(collections),
        occasion=to_occasion(occasion),
        grown=grown,
    )
