"""The documents that a page lists, selects and removes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from indexing.errors import CorpusLocked, CorpusNotFound

if TYPE_CHECKING:
    from indexing.store.store import DocumentEntry
    from rag_app.chat.uploads import Uploads
    from rag_app.corpus.corpus import Corpus

PATIENCE = 5  # seconds to wait for the right to write before a person is told


class Shelf:
    """The documents of a corpus, with what was handed in.

    Args:
        corpus: The documents.
        uploads: Files that were handed in; they go with their documents.
    """

    def __init__(self, corpus: Corpus, uploads: Uploads) -> None:
        self._corpus, self._uploads = corpus, uploads

    def entries(self) -> list[DocumentEntry]:
        """All documents; none where there is no corpus yet."""
        try:
            return self._corpus.documents()
        except CorpusNotFound:
            return []

    def chosen(self, wanted: object) -> tuple[str, ...]:
        """Those of the ids that a browser keeps which are documents still."""
        ids = {each for each in wanted if isinstance(each, str)} if isinstance(wanted, list) else ()
        return tuple(entry.id for entry in self.entries() if entry.id in ids)

    def remove(self, id_: str) -> None:
        """Remove a document, and its file if it was handed in. Files elsewhere stay.

        Raises:
            CorpusLocked: Documents are being added, and that goes on for longer than a moment.
        """
        entry = next((each for each in self.entries() if each.id == id_), None)
        if entry is None:
            return
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._corpus.remove([id_])
                break
            except CorpusLocked as error:
                if time.monotonic() > until:
                    raise CorpusLocked(
                        f"{entry.title}: cannot be removed while documents are being added; "
                        "try again later"
                    ) from error
                time.sleep(0.2)
        if all(each.path != entry.path for each in self.entries()):
            self._uploads.drop(entry.path)
