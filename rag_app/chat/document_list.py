"""The documents that a page lists, selects and removes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from indexing.errors import CorpusLocked, CorpusNotFound

if TYPE_CHECKING:
    from indexing.store.store import DocumentEntry
    from rag_app.chat.uploads import Uploads
    from rag_app.corpus.corpus import Corpus

LOCK_TIMEOUT = 5  # seconds to wait for another writer


class DocumentList:
    """The documents of a corpus, with their uploaded files.

    Args:
        corpus: The documents.
        uploads: Uploaded files; they are deleted with their documents.
    """

    def __init__(self, corpus: Corpus, uploads: Uploads) -> None:
        self._corpus, self._uploads = corpus, uploads

    def entries(self) -> list[DocumentEntry]:
        """All documents; none if there is no corpus yet."""
        try:
            return self._corpus.documents()
        except CorpusNotFound:
            return []

    def select(self, value: object) -> tuple[str, ...]:
        """The ids in a list sent by a browser that are still documents."""
        ids = {each for each in value if isinstance(each, str)} if isinstance(value, list) else ()
        return tuple(entry.id for entry in self.entries() if entry.id in ids)

    def remove(self, id_: str) -> None:
        """Remove a document, and its file if it was uploaded. Other files stay.

        Raises:
            CorpusLocked: Documents are being added, and that takes longer than LOCK_TIMEOUT.
        """
        entry = next((each for each in self.entries() if each.id == id_), None)
        if entry is None:
            return
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                self._corpus.remove([id_])
                break
            except CorpusLocked as error:
                if time.monotonic() > deadline:
                    raise CorpusLocked(
                        f"{entry.title}: cannot be removed while documents are being added; "
                        "try again later"
                    ) from error
                time.sleep(0.2)
        if all(each.path != entry.path for each in self.entries()):
            self._uploads.delete(entry.path)
