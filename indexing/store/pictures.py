"""Pictures of documents: figures with their data, and what OCR has read in pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from indexing.documents import Document, Figure
from indexing.errors import DocumentNotFound
from indexing.ocr.reading import PictureReading
from indexing.store.blobs import Blobs
from indexing.store.database import Database
from indexing.store.facts import FIGURES, PICTURES, Facts


class Pictures:
    """The pictures of the documents in a database, as far as `document` gives these by id."""

    def __init__(self, database: Database, document: Callable[[str], Document]) -> None:
        self._database, self._document = database, document
        self._facts, self._blobs = Facts(database), Blobs(database)

    def put(self, id_: str, figures: Sequence[Figure], readings: Sequence[str] = ()) -> None:
        """Keep the figures of a document, and note which readings of pictures its text is from."""
        values = [one.fields for one in figures]
        with self._database.writing():
            for (row,) in self._database.rows("SELECT row FROM documents WHERE id = ?", [id_]):
                if (values, [*readings]) == (
                    self._facts.get(row, FIGURES) or [],
                    self._facts.get(row, PICTURES) or [],
                ):
                    continue
                for one in figures:
                    self._blobs.put(one.key, one.data)
                self._facts.put(row, FIGURES, values)
                self._facts.put(row, PICTURES, [*readings])

    def figure(self, id_: str, key: str) -> bytes:
        """The data of a document's figure.

        Raises:
            DocumentNotFound: There is no such document, or it has no such figure.
        """
        belongs = any(one.key == key for one in self._document(id_).figures)
        data = self._blobs.get(key) if belongs else None
        if data is None:
            raise DocumentNotFound(f"{id_}: no such figure here; see: rag-app search")
        return data

    def figures(self, id_: str) -> list[Figure]:
        """The figures of a document with their data, but for those that are damaged.

        Raises:
            DocumentNotFound: There is no such document.
        """
        figures = self._document(id_).figures
        return [
            replace(one, data=data)
            for one in figures
            if (data := self._blobs.get(one.key)) is not None
        ]

    def readings_of(self, id_: str) -> dict[int, PictureReading]:
        """What OCR has read of the pages of a document, by number, as far as it is kept."""
        document = self._document(id_)
        rows = self._database.rows("SELECT row FROM documents WHERE id = ?", [id_])
        keys = [key for (row,) in rows for key in self._facts.get(row, PICTURES) or []]
        kept = self.readings()
        found = [PictureReading.unpack(kept[key]) for key in keys if key in kept]
        read = [reading for reading in found if reading.lines]
        pages = [page.number for page in document.pages if page.confidence is not None]
        return dict(zip(pages, read, strict=True)) if len(pages) == len(read) else {}

    def readings(self) -> PictureReadings:
        """What was recognised in pictures of pages, by key; what is put there is kept at once."""
        return PictureReadings(self._database)


class PictureReadings(MutableMapping[str, dict[str, Any]]):
    """Readings of pictures, each in the database as soon as it is there.

    Attributes:
        used: Keys asked for or kept, in order.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._blobs = database, Blobs(database)
        self.used: dict[str, None] = {}

    def __getitem__(self, key: str) -> dict[str, Any]:
        value = self._blobs.get(key)
        if value is None:
            raise KeyError(key)
        self.used[key] = None
        return dict(json.loads(value))

    def __setitem__(self, key: str, reading: dict[str, Any]) -> None:
        with self._database.writing():
            self._blobs.put(key, json.dumps(reading, ensure_ascii=False).encode())
        self.used[key] = None

    def __delitem__(self, key: str) -> None:
        with self._database.writing():
            self._database.run("DELETE FROM blobs WHERE key = ?", [key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.used)

    def __len__(self) -> int:
        return len(self.used)
