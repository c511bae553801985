"""The passages of a store and the vectors of its documents, read from the database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from indexing.documents import Passage
from indexing.errors import DocumentNotFound
from indexing.message import N_
from indexing.store.database import Database


class PassageReading:
    """What a view of a store reads of passages.

    Attributes:
        database: Where they are.
        scope: As in `StoreView`.
    """

    def __init__(self, database: Database, scope: tuple[int, ...] | None) -> None:
        self.database = database
        self.scope = scope

    def passages_of(self, id_: str) -> list[Passage]:
        """The passages of a document, in order."""
        rows = self.database.rows(
            'SELECT start, "end", speakers, passages.time, page FROM passages'
            f" JOIN {self._documents} ON documents.row = passages.document"
            " WHERE documents.id = ? ORDER BY start",
            [id_],
        )
        return [Passage(a, b, tuple(json.loads(who)), t, page) for a, b, who, t, page in rows]

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

    def passage_spans(self, rows: Sequence[int] | None = None) -> npt.NDArray[np.int64]:
        """(passages, 4): row, row of its document, start and end, by document and position."""
        where, values = among("document", rows)
        statement = (
            f'SELECT row, document, start, "end" FROM passages{where} ORDER BY document, start'
        )
        numbers = chain.from_iterable(self.database.each(statement, values))
        return np.fromiter(numbers, np.int64).reshape(-1, 4)

    def passage_speakers(self, rows: Sequence[int] | None = None) -> list[tuple[str, ...]]:
        """Who speaks in every passage, most words first, by document row and position."""
        read = lru_cache(4096)(lambda names: tuple(json.loads(names)))
        where, values = among("document", rows)
        statement = f"SELECT speakers FROM passages{where} ORDER BY document, start"
        return [read(names) for (names,) in self.database.each(statement, values)]

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
            raise DocumentNotFound(
                N_("%(name)s: no such document here; see: rag-app list", name=id_)
            )
        vectors, length = rows[0]
        return np.frombuffer(vectors, "<f4").reshape(-1, length // 4)

    def vectors(
        self, rows: Sequence[int] | None = None
    ) -> Iterator[tuple[int, npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
        """(row, document vector (d,), passage vectors (p, d)) of every document, by row."""
        where, values = among("documents.row", rows)
        statement = (
            "SELECT documents.row, vector, vectors FROM documents"
            f" JOIN passage_vectors ON passage_vectors.document = documents.row{where}"
            " ORDER BY documents.row"
        )
        for row, whole, parts in self.database.each(statement, values):
            vector = np.frombuffer(whole, "<f4")
            yield row, vector, np.frombuffer(parts, "<f4").reshape(-1, len(vector))

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
    def _places(self) -> str:
        """The same, of which only row, id and place are read, from where no texts lie."""
        here = "" if self.scope is None else f" AND collection IN ({self._rows})"
        return (
            "(SELECT ids.row, id, here.path, here.part, here.title FROM"
            " (SELECT row, id FROM documents INDEXED BY sqlite_autoindex_documents_1"
            " ORDER BY row LIMIT -1) AS ids"  # so that all that follows is read in its order
            " CROSS JOIN memberships AS here ON here.document = ids.row AND here.collection ="
            f" (SELECT min(collection) FROM memberships WHERE document = ids.row{here}))"
            " AS documents"
        )

    @property
    def _rows(self) -> str:
        return ", ".join(map(str, self.scope or ()))


def among(column: str, rows: Sequence[int] | Sequence[str] | None) -> tuple[str, list[str]]:
    """A condition that a column is one of some values, and what to put in; none for all."""
    if rows is None:
        return "", []
    return f" WHERE {column} IN (SELECT value FROM json_each(?))", [json.dumps(list(rows))]
