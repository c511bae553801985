"""Whether the models for the first question are loaded yet; loads them in the background."""

from __future__ import annotations

import threading

from indexing.errors import RagAppError
from indexing.filter import OWNER
from rag_app.corpus.access import SharedCorpus


class Readiness:
    """Loads models ahead of the first question; one that is asked meanwhile waits for them.

    Where there are no documents, nothing is loaded. The page says while it `is_loading`.
    """

    def __init__(self, corpus: SharedCorpus) -> None:
        self._corpus = corpus
        self.is_loading = False

    def begin(self) -> None:
        """Load them in a thread."""
        self.is_loading = True
        threading.Thread(target=self._load, name="warm", daemon=True).start()

    def _load(self) -> None:
        try:
            corpus = self._corpus.seen_by(OWNER)
            if corpus.documents():
                corpus.search("warm", k=1, passages=1)
        except RagAppError:
            return  # the first question reports it
        finally:
            self.is_loading = False
