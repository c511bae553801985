"""Vectors of another fingerprint: kept beside the corpus's own, which they replace all at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.store.database import Database
from indexing.store.index_state import IndexState
from indexing.store.meta import Meta, fingerprint_key


class Reencoding:
    """The vectors of a database, made in another way."""

    def __init__(self, database: Database) -> None:
        self._database, self._meta = database, Meta(database)

    def put(self, id_: str, encoded: EncodedDocument, fingerprint: Fingerprint) -> None:
        """Keep a document's vectors under another fingerprint until `adopt` makes them the ones."""
        values = [fingerprint_key(fingerprint), to_blob(encoded.vector), to_blob(encoded.passages)]
        with self._database.writing():
            self._database.run(
                "INSERT OR REPLACE INTO reencoded (document, recipe, vector, vectors)"
                " SELECT row, ?, ?, ? FROM documents WHERE id = ?",
                [*values, id_],
            )
            self._database.run(
                "UPDATE reencoded SET checksum ="
                " checksum(document, CAST(recipe AS BLOB), vector, vectors)"
                " WHERE document = (SELECT row FROM documents WHERE id = ?)",
                [id_],
            )

    def pending(self, fingerprint: Fingerprint) -> list[str]:
        """Ids of the documents that have no vectors under that fingerprint yet, in order."""
        rows = self._database.rows(
            "SELECT id FROM documents LEFT JOIN reencoded"
            " ON reencoded.document = documents.row AND recipe = ? AND checksum ="
            " checksum(document, CAST(recipe AS BLOB), reencoded.vector, vectors)"
            " WHERE reencoded.document IS NULL ORDER BY documents.row",
            [fingerprint_key(fingerprint)],
        )
        return [id_ for (id_,) in rows]

    def adopt(self, fingerprint: Fingerprint) -> None:
        """Make the vectors of that fingerprint the corpus's own, in one transaction."""
        with self._meta.changing():
            self._database.run(
                "UPDATE documents SET vector ="
                " (SELECT vector FROM reencoded WHERE document = documents.row)"
            )
            self._database.run(
                "UPDATE passage_vectors SET vectors = (SELECT vectors FROM reencoded"
                " WHERE reencoded.document = passage_vectors.document)"
            )
            self._database.run("DELETE FROM reencoded")
            self._database.run(
                "UPDATE checksums SET vectors = (SELECT vectors FROM current_checksums AS now"
                " WHERE now.document = checksums.document)"
            )
            self._meta.put_fingerprint(fingerprint)
            IndexState(self._database).clear()


def to_blob(vectors: npt.NDArray[np.float32]) -> bytes:
    """Vectors as they are stored, on any machine: little-endian float32."""
    return vectors.astype("<f4", copy=False).tobytes()
