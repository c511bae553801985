"""The source of truth: one SQLite file (WAL) with documents, passages, vectors, and fingerprint.

A document and everything about it are committed in one transaction. Row numbers are never reused,
so a passage row always means the same passage, or none. Every commit raises `generation` and draws
a new `stamp`, by which derived indexes know whether they are current.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from indexing.change_detection import DocumentIdentity
from indexing.documents import Document, Passage, renamed
from indexing.encoder.fingerprint import Fingerprint, check_fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import CorpusNotFound
from indexing.store.blobs import Blobs
from indexing.store.collections import DEFAULT, Membership
from indexing.store.database import Database, Synchronous, exists, make_folder
from indexing.store.database import create as make_database
from indexing.store.derived.derivation import derive
from indexing.store.facts import GROWN, SPEAKER_NAMES
from indexing.store.file_states import FileStates
from indexing.store.records.document import DOCUMENT, to_document
from indexing.store.reencoding import Reencoding, to_blob
from indexing.store.repair.verification import require_sound_start
from indexing.store.view import StoreView
from indexing.text.chunking import speakers_of
from indexing.walk import CORPUS_FILE

FILE_NAME = CORPUS_FILE


class Store(StoreView):
    """One corpus database.

    Attributes:
        blobs: What is large, by key.
        files: What files looked like when they were last read.
        reencoding: Vectors that are being made in another way.

    Raises:
        CorpusNotFound: There is none, and `create` is false.
        CorpusTooNew: A later version wrote it.
        CorpusDamaged: The file is not a sound database.
    """

    def __init__(
        self,
        folder: Path,  # the corpus folder
        *,
        create: bool = False,  # make it when it does not exist
        synchronous: Synchronous = "normal",  # what a power cut may take
        check: bool = True,  # whether to do what takes no time of a verification; not to repair it
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
        super().__init__(Database(self.path, synchronous=synchronous))
        self.blobs = Blobs(self.database)
        self.files = FileStates(self.database)
        self.reencoding = Reencoding(self.database)
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

    def renew(self) -> None:
        """Draw a new stamp: whatever was derived from these documents elsewhere is not of them."""
        with self.meta.changing():
            pass

    def set_fingerprint(self, fingerprint: Fingerprint) -> None:
        """Fix the fingerprint of an empty corpus, or check it against that of a filled one.

        Raises:
            EncoderMismatch: The vectors here were made in another way.
        """
        stored = self.fingerprint()
        check_fingerprint(stored, fingerprint, self.folder)
        if stored is None:
            with self.database.writing():
                self.meta.put_fingerprint(fingerprint)

    def put(  # noqa: PLR0913 - three of them optional, by keyword
        self,
        document: Document,  # with its place in the collection
        passages: Sequence[Passage],
        encoded: EncodedDocument,  # their vectors
        *,
        added: str,  # when it was added
        # made where there is none; None leaves a document where it is
        collection: str | None = DEFAULT,
        memberships: Sequence[Membership] = (),  # others that it has
        grown: bool = False,  # whether it is the one before with more at its end
    ) -> None:
        """Add a document with its passages, one at least, or replace the one of the same id."""
        assert len(passages) == len(encoded.passages) > 0, "search counts on a passage in each"
        with self.meta.changing():
            before = [*memberships, *self.collections.memberships_of(document.id)]
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
                    *(len(document.text.split()), encoded.tokens, to_blob(encoded.vector), added),
                ],
            )
            self.database.run_all(
                'INSERT INTO passages (document, start, "end", speakers, time, page)'
                " VALUES (?, ?, ?, ?, ?, ?)",
                [[row, p.start, p.end, json.dumps(p.speakers), p.time, p.page] for p in passages],
            )
            self.database.run(
                "INSERT INTO passage_vectors VALUES (?, ?)", [row, to_blob(encoded.passages)]
            )
            self.facts.put_occasion(row, document.occasion)
            self.facts.put(row, SPEAKER_NAMES, document.speaker_names)
            self.facts.put(row, GROWN, grown)
            self.facts.list_now(row)
            place = (document.path, document.part, document.title)
            if collection is not None:
                before.append(Membership(self.collections.ensure(collection), *place))
            elif not before:
                before.append(Membership(self.collections.home(), *place))
            self.collections.put(row, before)
            self._put_place(row)

    def _put_place(self, row: int) -> None:
        """Let a document's record have the place of its first membership, and its checksums."""
        self.database.run(
            "UPDATE documents SET (path, part, title) = (SELECT path, part, title FROM memberships"
            " WHERE document = documents.row ORDER BY collection LIMIT 1) WHERE row = ?",
            [row],
        )
        self._put_checksums(row)

    def _put_checksums(self, row: int) -> None:
        self.database.run(
            "INSERT OR REPLACE INTO checksums SELECT * FROM current_checksums WHERE document = ?",
            [row],
        )

    def remove(self, ids: Iterable[str]) -> int:
        """Remove documents from all collections; how many there were."""
        with self.meta.changing():
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
                if {one.collection for one in self.collections.memberships_of(id_)} == {row}:
                    self._remove(id_)
                    removed.append(id_)
                else:
                    self._leave(id_, row)
            self.collections.raise_count()
            if removed:
                self.blobs.drop_unused()
                self.meta.raise_generation()
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
            self._put_place(row)

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
                self._put_place(document)
            self.collections.raise_count()

    def move(self, to: DocumentIdentity, *, collection: str | None = None) -> None:
        """Note that a document has another path, part or title now.

        Args:
            to: Where it is, by its id.
            collection: In which it has; None for wherever it is as its record says.
        """
        with self.meta.changing():
            for (row,) in self.database.rows("SELECT row FROM documents WHERE id = ?", [to.id]):
                self.collections.place(row, to, collection=collection)
                self.facts.put_occasion(row, to.occasion)
                self._put_place(row)

    def name_speakers(self, names: Mapping[str, Mapping[str, str]]) -> None:
        """Give speakers other names, in one transaction; nothing is encoded again.

        Args:
            names: By id of the document, names by label; a label that is not there has its own
                name again.

        Raises:
            DocumentNotFound: There is none by one of the ids.
        """
        with self.meta.changing():
            for id_, named in names.items():
                document = self.document(id_)
                utterances = renamed(document.utterances, named)
                ((row,),) = self.database.rows("SELECT row FROM documents WHERE id = ?", [id_])
                document = replace(document, utterances=utterances)
                self.facts.put(row, SPEAKER_NAMES, document.speaker_names)
                self._put_speakers(row, document)
                self._put_checksums(row)
                self.index.outdate([row])

    def _put_speakers(self, row: int, document: Document) -> None:
        """Let the passages of a document say who speaks in them as its utterances do."""
        spans = self.database.rows(
            'SELECT row, start, "end" FROM passages WHERE document = ?', [row]
        )
        self.database.run_all(
            "UPDATE passages SET speakers = ? WHERE row = ?",
            [(json.dumps(speakers_of(document, a, b)), passage) for passage, a, b in spans],
        )
        self.facts.list_now(row)

    def repair_facts(self) -> None:
        """Drop facts that are not as they were written; labels stand for lost names."""
        with self.meta.changing():
            self.blobs.drop_damaged()
            for row in self.facts.drop_damaged():
                for values in self.database.rows(
                    f"SELECT {DOCUMENT} FROM documents WHERE row = ?", [row]
                ):
                    self._put_speakers(row, to_document(values))
                    self._put_checksums(row)
                self.index.outdate([row])
            derive(self.database)
