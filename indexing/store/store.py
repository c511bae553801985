"""The truth: one SQLite file (WAL) with documents, passages, vectors, and how they were made.

A document and everything about it commit in one transaction. Row numbers are never used twice, so
a passage row means the same passage for ever or nothing at all. Every commit raises `generation`,
and draws a new `stamp`, by which derived indexes know whether they are current.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.change_detection import DocumentIdentity
from indexing.documents import (
    NO_OCCASION,
    Document,
    Figure,
    Occasion,
    Page,
    Passage,
    Utterance,
    renamed,
)
from indexing.encoder.encoded_document import EncodedDocument
from indexing.encoder.fingerprint import Fingerprint, check_fingerprint
from indexing.errors import CorpusNotFound, DocumentNotFound
from indexing.filter import Filter
from indexing.ocr.reading import Reading
from indexing.store.blobs import Blobs, KeptReadings
from indexing.store.checksums import checksum
from indexing.store.collections import DEFAULT, Collections, Membership
from indexing.store.database import Database, Synchronous, exists, make_folder
from indexing.store.database import create as make_database
from indexing.store.facts import (
    FIGURES,
    OCCASION,
    PICTURES,
    SPEAKER_NAMES,
    Facts,
    column,
    to_occasion,
)
from indexing.store.verification import fingerprint_of, require_sound_start
from indexing.text.chunking import speakers_of

FILE_NAME = "corpus.sqlite"
DOCUMENT = (
    "id, path, part, title, format, digest, text, turns, pages, breaks, metadata,"
    f" {column(OCCASION)}, {column(SPEAKER_NAMES)}, {column(FIGURES)}"
)
"""The columns that `to_document` takes."""


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """What a list of documents shows: everything but text and vectors."""

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


@dataclass(frozen=True, slots=True)
class DocumentName:
    """What a hit says of its document."""

    id: str
    path: str
    part: str
    title: str
    day: str = ""


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A stored passage, with the row number of its document."""

    row: int
    document: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file looked like when it was last read."""

    size: int
    mtime_ns: int


class Store:
    """One corpus database.

    Attributes:
        collections: The collections, and which documents are in them.
        facts: What is kept of documents beside their texts.
        blobs: What is large, by key.
        scope: Row numbers of the collections whose documents are read here, with the names they
            have there; None for the whole corpus.

    Args:
        folder: The corpus folder.
        create: Make it when it does not exist.
        synchronous: What a power cut may take.
        check: Whether to do what takes no time of a verification; not to repair it.

    Raises:
        CorpusNotFound: There is none, and `create` is false.
        CorpusTooNew: A later version wrote it.
        CorpusDamaged: The file is not a sound database.
    """

    def __init__(
        self,
        folder: Path,
        *,
        create: bool = False,
        synchronous: Synchronous = "normal",
        check: bool = True,
    ) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        if not exists(self.path):
            if not create:
                raise CorpusNotFound(
                    f"{folder}: no corpus here; make one with: rag-app index PATH --corpus {folder}"
                )
            make_folder(folder)
            make_database(self.path)
        self.database = Database(self.path, synchronous=synchronous)
        self.collections = Collections(self.database)
        self.facts = Facts(self.database)
        self.blobs = Blobs(self.database)
        self.scope: tuple[int, ...] | None = None
        try:
            if check:
                require_sound_start(self.database)
        except BaseException:
            self.database.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    @property
    def is_current(self) -> bool:
        """Whether the folder still holds the file that is open; so while a transaction lasts."""
        return self.database.is_current

    def reading(self) -> AbstractContextManager[None]:
        """Everything read inside sees the corpus at one moment, whatever is written meanwhile."""
        return self.database.reading()

    def limited(self, where: Filter | None) -> Store:
        """The same store, in which only documents of a filter's collections are there to be read.

        Raises:
            CollectionNotFound: The filter names one that is not there, or not to be read.
        """
        if where is None:
            return self
        return self.within(self.collections.scope(where.collections, where.person))

    def within(self, scope: tuple[int, ...] | None) -> Store:
        """The same store with the documents of the collections of these rows; None for all."""
        if scope is None:
            return self
        view = copy(self)
        view.scope = scope if self.scope is None else tuple({*scope} & {*self.scope})
        return view

    def of(self, collection: str) -> Store:
        """The same store with the documents of one collection; with none where there is none."""
        row = self.collections.row(collection)
        return self.within(() if row is None else (row,))

    @property
    def _documents(self) -> str:
        """What to read documents from: the table, or those of the scope with their places there."""
        if self.scope is None:
            return "documents"
        return (
            "(SELECT whole.row, id, here.path, here.part, here.title, format, digest, text, turns,"
            " pages, breaks, metadata, words, tokens, vector, added FROM documents AS whole"
            " JOIN memberships AS here ON here.document = whole.row AND here.collection ="
            " (SELECT min(collection) FROM memberships WHERE document = whole.row"
            f" AND collection IN ({self._rows}))) AS documents"
        )

    @property
    def _rows(self) -> str:
        return ", ".join(map(str, self.scope or ()))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction, which raises the generation."""
        with self.database.writing():
            yield
            self.raise_generation()

    def raise_generation(self) -> None:
        """Count a change of documents, within its transaction."""
        self.database.run(
            "UPDATE meta SET value = CASE key WHEN 'stamp' THEN lower(hex(randomblob(8)))"
            " ELSE CAST(value AS INTEGER) + 1 END WHERE key IN ('generation', 'stamp')"
        )

    # How vectors are made

    @property
    def generation(self) -> int:
        """Raised by every commit that changes documents."""
        return int(self._meta("generation") or 0)  # an integer, as every opening makes sure

    @property
    def stamp(self) -> str:
        """Drawn again by every commit: no two states share it, not even after a restored backup."""
        return self._meta("stamp") or ""

    @property
    def revision(self) -> str:
        """Another one after every change of documents or collections; cheap to ask for."""
        keys = "('stamp', 'collections')"
        rows = self.database.rows(f"SELECT value FROM meta WHERE key IN {keys} ORDER BY key")
        return "-".join(str(value) for (value,) in rows)

    def renew(self) -> None:
        """Draw a new stamp: whatever was derived from these documents elsewhere is not of them."""
        with self._writing():
            pass

    def fingerprint(self) -> Fingerprint | None:
        """How the vectors here were made; None before the first document."""
        return fingerprint_of(self.database)

    def set_fingerprint(self, fingerprint: Fingerprint) -> None:
        """Fix the fingerprint of an empty corpus, or check it against that of a filled one.

        Raises:
            EncoderMismatch: The vectors here were made in another way.
        """
        stored = self.fingerprint()
        check_fingerprint(stored, fingerprint, self.folder)
        if stored is None:
            with self.database.writing():
                self._set_fingerprint(fingerprint)

    def _set_fingerprint(self, fingerprint: Fingerprint) -> None:
        key = _fingerprint_key(fingerprint)
        self._set_meta("recipe", key)
        self._set_meta("recipe_checksum", str(checksum(key.encode())))

    def _meta(self, key: str) -> str | None:
        rows = self.database.rows("SELECT value FROM meta WHERE key = ?", [key])
        return str(rows[0][0]) if rows else None

    def _set_meta(self, key: str, value: str) -> None:
        self.database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    # Writing

    def put(  # noqa: PLR0913 - three of them optional, by keyword
        self,
        document: Document,
        passages: Sequence[Passage],
        encoded: EncodedDocument,
        *,
        added: str,
        collection: str | None = DEFAULT,
        memberships: Sequence[Membership] = (),
    ) -> None:
        """Add a document with its passages, one at least, or replace the one of the same id.

        Args:
            document: With its place in the collection.
            passages: Its passages.
            encoded: Their vectors.
            added: When it was added.
            collection: Made where there is none; None leaves a document where it is.
            memberships: Others that it has.
        """
        assert len(passages) == len(encoded.passages) > 0, "search counts on a passage in each"
        with self._writing():
            before = [*memberships, *self._memberships(document.id)]
            self.database.run("DELETE FROM documents WHERE id = ?", [document.id])
            row = self.database.run(
                "INSERT INTO documents (id, path, part, title, format, digest, text, turns, pages,"
                " breaks, metadata, words, tokens, vector, added)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    *(document.id, document.path, document.part, document.title),
                    *(document.format, document.digest, document.text),
                    json.dumps(
                        [
                            [t.start, t.end, t.text_start, t.label, t.time]
                            for t in document.utterances
                        ]
                    ),
                    json.dumps([page.values for page in document.pages]),
                    *(json.dumps(document.breaks), document.metadata),
                    *(len(document.text.split()), encoded.tokens, _blob(encoded.vector), added),
                ],
            )
            self.database.run_all(
                'INSERT INTO passages (document, start, "end", speakers, time, page)'
                " VALUES (?, ?, ?, ?, ?, ?)",
                [[row, p.start, p.end, json.dumps(p.speakers), p.time, p.page] for p in passages],
            )
            self.database.run(
                "INSERT INTO passage_vectors VALUES (?, ?)", [row, _blob(encoded.passages)]
            )
            self.facts.put_occasion(row, document.occasion)
            self.facts.put(row, SPEAKER_NAMES, document.speaker_names)
            place = (document.path, document.part, document.title)
            if collection is not None:
                before.append(Membership(self.collections.ensure(collection), *place))
            elif not before:
                before.append(Membership(self.collections.home(), *place))
            self.collections.put(row, before)
            self._take_place(row)
            self._put_checksums(row)

    def _memberships(self, id_: str) -> list[Membership]:
        rows = self.database.rows("SELECT row FROM documents WHERE id = ?", [id_])
        return [one for (row,) in rows for one in self.collections.memberships(row)]

    def _take_place(self, row: int) -> None:
        """Let a document's record have the place of its first membership."""
        self.database.run(
            "UPDATE documents SET (path, part, title) = (SELECT path, part, title FROM memberships"
            " WHERE document = documents.row ORDER BY collection LIMIT 1) WHERE row = ?",
            [row],
        )

    def _put_checksums(self, row: int) -> None:
        self.database.run(
            "INSERT OR REPLACE INTO checksums SELECT * FROM current_checksums WHERE document = ?",
            [row],
        )

    def remove(self, ids: Iterable[str]) -> int:
        """Remove documents from all collections; how many there were."""
        with self._writing():
            stored = [id_ for id_ in dict.fromkeys(ids) if self.digest(id_) is not None]
            for id_ in stored:
                self._remove(id_)
            self.blobs.drop_unused()
        return len(stored)

    def _remove(self, id_: str) -> None:
        for (row,) in self.database.rows("SELECT row FROM documents WHERE id = ?", [id_]):
            self.database.run(
                "DELETE FROM file_states WHERE (collection, path) IN"
                " (SELECT collection, path FROM memberships WHERE document = ?)",
                [row],
            )
            self.database.run("DELETE FROM documents WHERE row = ?", [row])

    def leave(self, ids: Iterable[str], collection: str) -> list[str]:
        """Take documents out of a collection; those that are in no other are removed.

        Returns:
            Ids of the removed.

        Raises:
            CollectionNotFound: There is none of that name.
        """
        row, removed = self.collections.row(self.collections.named(collection).name), []
        with self.database.writing():
            for id_ in dict.fromkeys(ids):
                if {one.collection for one in self._memberships(id_)} == {row}:
                    self._remove(id_)
                    removed.append(id_)
                else:
                    self._leave(id_, row)
            self.collections.raise_count()
            if removed:
                self.blobs.drop_unused()
                self.raise_generation()
        return removed

    def _leave(self, id_: str, collection: int | None) -> None:
        for (row,) in self.database.rows("SELECT row FROM documents WHERE id = ?", [id_]):
            self.database.run(
                "DELETE FROM file_states WHERE (collection, path) IN (SELECT collection, path"
                " FROM memberships WHERE document = ? AND collection = ?)",
                [row, collection],
            )
            self.database.run(
                "DELETE FROM memberships WHERE document = ? AND collection = ?", [row, collection]
            )
            self._take_place(row)
            self._put_checksums(row)

    def delete_collection(self, name: str) -> list[str]:
        """Delete a collection, and the documents that are in no other; ids of these.

        Raises:
            CollectionNotFound: There is none of that name.
        """
        stored = self.collections.named(name).name
        ids = [one.id for one in self.of(stored).identities()]
        removed = self.leave(ids, stored)
        with self.database.writing():
            self.database.run(
                "DELETE FROM collections WHERE name = ? AND NOT EXISTS"
                " (SELECT 1 FROM memberships WHERE collection = collections.row)",
                [stored],
            )
            self.collections.raise_count()
        return removed

    def join(self, to: DocumentIdentity, collection: str) -> None:
        """Put a document of the corpus into a collection too, with its place there."""
        with self.database.writing():
            row = self.collections.ensure(collection)
            for (document,) in self.database.rows(
                "SELECT row FROM documents WHERE id = ?", [to.id]
            ):
                self.collections.put(document, [Membership(row, to.path, to.part, to.title)])
                self._take_place(document)
                self._put_checksums(document)
            self.collections.raise_count()

    def move(self, to: DocumentIdentity, *, collection: str | None = None) -> None:
        """Note that a document has another path, part or title now.

        Args:
            to: Where it is, by its id.
            collection: In which it has; None for wherever it is as its record says.
        """
        with self._writing():
            for (row,) in self.database.rows("SELECT row FROM documents WHERE id = ?", [to.id]):
                self.collections.place(row, to, collection=collection)
                self.facts.put_occasion(row, to.occasion)
                self._take_place(row)
                self._put_checksums(row)

    def put_pictures(
        self, id_: str, figures: Sequence[Figure], readings: Sequence[str] = ()
    ) -> None:
        """Keep the figures of a document, and note which readings of pictures its text is from.

        Args:
            id_: Of the document.
            figures: With their data.
            readings: Their keys.
        """
        values = [one.fields for one in figures]
        with self.database.writing():
            for (row,) in self.database.rows("SELECT row FROM documents WHERE id = ?", [id_]):
                if (values, [*readings]) == (
                    self.facts.get(row, FIGURES) or [],
                    self.facts.get(row, PICTURES) or [],
                ):
                    continue
                for one in figures:
                    self.blobs.put(one.key, one.data)
                self.facts.put(row, FIGURES, values)
                self.facts.put(row, PICTURES, [*readings])

    def figure(self, id_: str, key: str) -> bytes:
        """The data of a document's figure.

        Raises:
            DocumentNotFound: There is no such document, or it has no such figure.
        """
        held = any(one.key == key for one in self.document(id_).figures)
        data = self.blobs.get(key) if held else None
        if data is None:
            raise DocumentNotFound(f"{id_}: no such figure here; see: rag-app search")
        return data

    def figures(self, id_: str) -> list[Figure]:
        """The figures of a document with their data, but for those that are damaged.

        Raises:
            DocumentNotFound: There is no such document.
        """
        figures = self.document(id_).figures
        return [
            replace(one, data=data)
            for one in figures
            if (data := self.blobs.get(one.key)) is not None
        ]

    def readings_of(self, id_: str) -> dict[int, Reading]:
        """What OCR has read of the pages of a document, by number, as far as it is kept."""
        document = self.document(id_)
        rows = self.database.rows("SELECT row FROM documents WHERE id = ?", [id_])
        keys = [key for (row,) in rows for key in self.facts.get(row, PICTURES) or []]
        kept = self.readings()
        found = [Reading.unpack(kept[key]) for key in keys if key in kept]
        read = [reading for reading in found if reading.lines]
        pages = [page.number for page in document.pages if page.confidence is not None]
        return dict(zip(pages, read, strict=True)) if len(pages) == len(read) else {}

    def readings(self) -> KeptReadings:
        """What was recognised in pictures of pages, by key; what is put there is kept at once."""
        return KeptReadings(self.database)

    def name_speakers(self, names: Mapping[str, Mapping[str, str]]) -> None:
        """Give speakers other names, in one transaction; nothing is encoded again.

        Args:
            names: By id of the document, names by label; a label that is not there has its own
                name again.

        Raises:
            DocumentNotFound: There is none by one of the ids.
        """
        with self._writing():
            for id_, named in names.items():
                document = self.document(id_)
                utterances = renamed(document.utterances, named)
                ((row,),) = self.database.rows("SELECT row FROM documents WHERE id = ?", [id_])
                document = replace(document, utterances=utterances)
                self.facts.put(row, SPEAKER_NAMES, document.speaker_names)
                self._put_speakers(row, document)
                self._put_checksums(row)

    def _put_speakers(self, row: int, document: Document) -> None:
        """Let the passages of a document say who speaks in them as its utterances do."""
        spans = self.database.rows(
            'SELECT row, start, "end" FROM passages WHERE document = ?', [row]
        )
        self.database.run_all(
            "UPDATE passages SET speakers = ? WHERE row = ?",
            [(json.dumps(speakers_of(document, a, b)), passage) for passage, a, b in spans],
        )

    def repair_facts(self) -> None:
        """Drop facts that are not as they were written; labels stand for lost names."""
        with self._writing():
            self.blobs.drop_damaged()
            for row in self.facts.drop_damaged():
                for values in self.database.rows(
                    f"SELECT {DOCUMENT} FROM documents WHERE row = ?", [row]
                ):
                    self._put_speakers(row, to_document(values))
                    self._put_checksums(row)

    # Re-encoding: side by side, then all at once

    def put_reencoded(self, id_: str, encoded: EncodedDocument, fingerprint: Fingerprint) -> None:
        """Keep a document's vectors under another fingerprint until `adopt` makes them the ones."""
        values = [_fingerprint_key(fingerprint), _blob(encoded.vector), _blob(encoded.passages)]
        with self.database.writing():
            self.database.run(
                "INSERT OR REPLACE INTO reencoded (document, recipe, vector, vectors)"
                " SELECT row, ?, ?, ? FROM documents WHERE id = ?",
                [*values, id_],
            )
            self.database.run(
                "UPDATE reencoded SET checksum ="
                " checksum(document, CAST(recipe AS BLOB), vector, vectors)"
                " WHERE document = (SELECT row FROM documents WHERE id = ?)",
                [id_],
            )

    def ids_to_reencode(self, fingerprint: Fingerprint) -> list[str]:
        """Ids of the documents that have no vectors under that fingerprint yet, in order."""
        rows = self.database.rows(
            "SELECT id FROM documents LEFT JOIN reencoded"
            " ON reencoded.document = documents.row AND recipe = ? AND checksum ="
            " checksum(document, CAST(recipe AS BLOB), reencoded.vector, vectors)"
            " WHERE reencoded.document IS NULL ORDER BY documents.row",
            [_fingerprint_key(fingerprint)],
        )
        return [id_ for (id_,) in rows]

    def adopt_reencoded(self, fingerprint: Fingerprint) -> None:
        """Make the vectors of that fingerprint the corpus's own, in one transaction."""
        with self._writing():
            self.database.run(
                "UPDATE documents SET vector ="
                " (SELECT vector FROM reencoded WHERE document = documents.row)"
            )
            self.database.run(
                "UPDATE passage_vectors SET vectors = (SELECT vectors FROM reencoded"
                " WHERE reencoded.document = passage_vectors.document)"
            )
            self.database.run("DELETE FROM reencoded")
            self.database.run(
                "UPDATE checksums SET vectors = (SELECT vectors FROM current_checksums AS now"
                " WHERE now.document = checksums.document)"
            )
            self._set_fingerprint(fingerprint)

    def remember_file(self, path: str, state: FileState, *, collection: str = DEFAULT) -> None:
        """Note that a file was read whole in this state, so that it can be skipped next time."""
        with self.database.writing():
            row = self.collections.ensure(collection)
            self.database.run(
                "INSERT OR REPLACE INTO file_states VALUES (?, ?, ?, ?)",
                [row, path, state.size, state.mtime_ns],
            )

    # Reading

    def file_state(self, path: str, *, collection: str = DEFAULT) -> FileState | None:
        """The state in which a file was last read whole for a collection."""
        rows = self.database.rows(
            "SELECT size, mtime_ns FROM file_states WHERE path = ? AND collection = ?",
            [path, self.collections.row(collection)],
        )
        return FileState(*rows[0]) if rows else None

    def file_states(self, *, collection: str = DEFAULT) -> dict[str, FileState]:
        """The states in which the files of a collection were last read whole, by path."""
        rows = self.database.rows(
            "SELECT path, size, mtime_ns FROM file_states WHERE collection = ?",
            [self.collections.row(collection)],
        )
        return {path: FileState(size, mtime_ns) for path, size, mtime_ns in rows}

    def passages_of(self, id_: str) -> list[Passage]:
        """The passages of a document, in order."""
        rows = self.database.rows(
            'SELECT start, "end", speakers, passages.time, page FROM passages'
            f" JOIN {self._documents} ON documents.row = passages.document"
            " WHERE documents.id = ? ORDER BY start",
            [id_],
        )
        return [Passage(a, b, tuple(json.loads(who)), t, page) for a, b, who, t, page in rows]

    def places_of_pages(self, id_: str, numbers: Iterable[int]) -> dict[int, str]:
        """What pages of a document are called, by number, as `Page.place` has it."""
        places = {number: f"page {number}" for number in numbers}
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

    def passage_vectors_of(self, id_: str) -> npt.NDArray[np.float32]:
        """(passages, d) vectors of a document's passages, in order.

        Raises:
            DocumentNotFound: There is none by that id.
        """
        rows = self.database.rows(
            f"SELECT vectors, length(vector) FROM {self._documents}"
            " JOIN passage_vectors ON passage_vectors.document = documents.row WHERE id = ?",
            [id_],
        )
        if not rows:
            raise DocumentNotFound(f"{id_}: no such document here; see: rag-app list")
        vectors, length = rows[0]
        return np.frombuffer(vectors, "<f4").reshape(-1, length // 4)

    def digest(self, id_: str) -> str | None:
        """The content digest of a document; None when there is none by that id."""
        rows = self.database.rows("SELECT digest FROM documents WHERE id = ?", [id_])
        return str(rows[0][0]) if rows else None

    def identities(self) -> list[DocumentIdentity]:
        """Every document as a catalogue knows it, by row."""
        columns = f"id, path, part, title, digest, {column(OCCASION)}"
        statement = f"SELECT {columns} FROM {self._documents} ORDER BY row"
        return [
            DocumentIdentity(id_, path, part, title, digest, to_occasion(occasion))
            for id_, path, part, title, digest, occasion in self.database.rows(statement)
        ]

    @property
    def is_empty(self) -> bool:
        """Whether there is no document."""
        rows = self.database.rows(f"SELECT EXISTS (SELECT 1 FROM {self._documents})")
        return not rows[0][0]

    def digests(self) -> dict[str, tuple[str, str]]:
        """For each content digest: the id and path of the document that holds it."""
        rows = self.database.each(f"SELECT digest, id, path FROM {self._documents}")
        return {digest: (id_, path) for digest, id_, path in rows}

    def entries(self) -> list[DocumentEntry]:
        """All documents, in the order they were added."""
        here = "" if self.scope is None else f" AND collection IN ({self._rows})"
        rows = self.database.rows(
            "SELECT id, path, part, title, format, length(text), words, tokens,"
            " (SELECT count(*) FROM passages WHERE document = documents.row), added,"
            " (SELECT json_group_array(name) FROM (SELECT name FROM memberships JOIN collections"
            " ON collections.row = memberships.collection"
            f" WHERE memberships.document = documents.row{here} ORDER BY collections.row)),"
            f" {column(OCCASION)} FROM {self._documents} ORDER BY row"
        )
        return [
            replace(
                DocumentEntry(*row[:10]),
                collections=tuple(json.loads(row[10])),
                occasion=to_occasion(row[11]),
            )
            for row in rows
        ]

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
        memberships = self._memberships(id_)
        return [
            one.path for one in memberships if self.scope is None or one.collection in self.scope
        ]

    def document(self, id_: str) -> Document:
        """A whole document.

        Raises:
            DocumentNotFound: There is none by that id.
        """
        rows = self.database.rows(
            f"SELECT {DOCUMENT} FROM {self._documents} WHERE id = ?",
            [id_],
        )
        if not rows:
            raise DocumentNotFound(f"{id_}: no such document here; see: rag-app list")
        return to_document(rows[0])

    def document_rows(self) -> list[tuple[int, str, str, str, str, int]]:
        """(row, id, path, part, title, words) of every document, by row."""
        statement = f"SELECT row, id, path, part, title, words FROM {self._documents} ORDER BY row"
        return self.database.rows(statement)

    def days(self) -> dict[int, str]:
        """The day of every document that has one, by row."""
        return {row: one.day for row, one in self.facts.occasions().items() if one.day}

    def people(self) -> dict[int, frozenset[str]]:
        """Everybody who takes part in or speaks in each document, by row."""
        occasions = self.facts.occasions().items()
        people = {row: {*one.participants} for row, one in occasions}
        rows = "SELECT DISTINCT document, speakers FROM passages WHERE speakers != '[]'"
        for row, names in self.database.each(rows):
            people.setdefault(row, set()).update(json.loads(names))
        return {row: frozenset(names) for row, names in people.items()}

    def people_by_id(self) -> dict[str, frozenset[str]]:
        """The same by id, of the documents of the scope."""
        people, nobody = self.people(), frozenset[str]()
        rows = self.database.each(f"SELECT row, id FROM {self._documents}")
        return {id_: people.get(row, nobody) for row, id_ in rows}

    def metadata(self) -> Iterator[tuple[int, str]]:
        """(row, metadata) of every document, by row."""
        return self.database.each(f"SELECT row, metadata FROM {self._documents} ORDER BY row")

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

    def passages_at(self, rows: Sequence[int]) -> list[tuple[Passage, str]]:
        """Passages by row with their text, in the order asked. Errors as in `documents_at`."""
        statement = (
            'SELECT start, "end", speakers, time, page, substr(text, start + 1, "end" - start)'
            " FROM passages JOIN documents ON documents.row = passages.document"
            " WHERE passages.row = ?"
        )
        rows_found = [self.database.row(statement, [row]) for row in rows]
        return [
            (Passage(start, end, tuple(json.loads(who)), time, page), text)
            for start, end, who, time, page, text in rows_found
        ]

    def passages_spoken_by(self, speaker: str) -> npt.NDArray[np.int64]:
        """Rows of the passages in which someone speaks whose name holds these words."""
        words = speaker.casefold()
        rows = self.database.rows("SELECT row, speakers FROM passages WHERE speakers != '[]'")
        hits = [r for r, who in rows if any(words in w.casefold() for w in json.loads(who))]
        return np.array(hits, np.int64)

    def transcripts(self) -> frozenset[str]:
        """Ids of the documents in which somebody speaks."""
        rows = self.database.each(
            f"SELECT id FROM {self._documents} WHERE row IN"
            " (SELECT document FROM passages WHERE speakers != '[]')"
        )
        return frozenset(id_ for (id_,) in rows)

    def texts(self) -> Iterator[tuple[int, str]]:
        """(row, text) of every document, by row."""
        return self.database.each(f"SELECT row, text FROM {self._documents} ORDER BY row")

    def passage_rows(self) -> list[PassageRow]:
        """Every passage, by document row and position."""
        rows = self.database.rows(
            'SELECT row, document, start, "end", speakers, time, page FROM passages'
            " ORDER BY document, start"
        )
        return [
            PassageRow(row, document, Passage(start, end, tuple(json.loads(who)), time, page))
            for row, document, start, end, who, time, page in rows
        ]

    def passage_spans(self) -> npt.NDArray[np.int64]:
        """(passages, 4): row, row of its document, start and end, by document and position."""
        statement = 'SELECT row, document, start, "end" FROM passages ORDER BY document, start'
        numbers = chain.from_iterable(self.database.each(statement))
        return np.fromiter(numbers, np.int64).reshape(-1, 4)

    def passage_speakers(self) -> list[tuple[str, ...]]:
        """Who speaks in every passage, most words first, by document row and position."""
        read = lru_cache(4096)(lambda names: tuple(json.loads(names)))
        rows = self.database.each("SELECT speakers FROM passages ORDER BY document, start")
        return [read(names) for (names,) in rows]

    def vectors(self) -> Iterator[tuple[int, npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
        """(row, document vector (d,), passage vectors (p, d)) of every document, by row."""
        rows = self.database.each(
            "SELECT documents.row, vector, vectors FROM documents"
            " JOIN passage_vectors ON passage_vectors.document = documents.row"
            " ORDER BY documents.row"
        )
        for row, whole, parts in rows:
            vector = np.frombuffer(whole, "<f4")
            yield row, vector, np.frombuffer(parts, "<f4").reshape(-1, len(vector))


def to_document(values: Sequence[Any]) -> Document:
    """A document from the values of the columns `DOCUMENT`."""
    *names, text, utterances, pages, breaks, metadata, occasion, speakers, figures = values
    id_, path, part, title, format_, digest = names
    return Document(
        id=id_,
        path=path,
        part=part,
        title=title,
        format=format_,
        digest=digest,
        text=text,
        utterances=renamed(
            (Utterance(*utterance) for utterance in json.loads(utterances)),
            json.loads(speakers or "{}"),
        ),
        pages=tuple(Page(*page) for page in json.loads(pages)),
        breaks=tuple(json.loads(breaks)),
        metadata=metadata,
        occasion=to_occasion(occasion),
        figures=tuple(Figure(**each) for each in json.loads(figures or "[]")),
    )


def _fingerprint_key(fingerprint: Fingerprint) -> str:
    return json.dumps(fingerprint.as_dict(), sort_keys=True)


def _blob(array: npt.NDArray[np.float32]) -> bytes:
    return np.ascontiguousarray(array, "<f4").tobytes()
