"""Whether anything that a page shows has changed, also in other windows and processes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from indexing.errors import RagAppError

if TYPE_CHECKING:
    from rag_app.chat.conversation_store import ConversationStore
    from rag_app.chat.queues.ingest_queue import IngestQueue
    from rag_app.chat.readiness import Readiness
    from rag_app.chat.welcome.suggestions import Suggestions
    from rag_app.corpus.access import SharedCorpus


class Changes:
    """Marks of what pages show.

    Args:
        corpus: The documents.
        ingest_queue: Uploaded files.
        conversations: Stored conversations.
        suggestions: What is shown before the first question.
        readiness: Whether models are loaded.
    """

    def __init__(
        self,
        corpus: SharedCorpus,
        ingest_queue: IngestQueue,
        conversations: ConversationStore,
        suggestions: Suggestions,
        readiness: Readiness,
    ) -> None:
        self._corpus, self._queue, self._conversations = corpus, ingest_queue, conversations
        self._suggestions, self._readiness = suggestions, readiness

    def mark(self, chats: str, person: str | None = None) -> str:
        """A mark that differs from an earlier one if what a person sees has changed since.

        Args:
            chats: The name of the folder with their conversations (`ConversationStore.name`).
            person: A login name; None where nobody logs in.
        """
        look = self._suggestions.known(person)
        parts = (
            self._revision(),
            self._queue.of(person),
            self._conversations.state(chats),
            look.about and look.about.document,
            look.questions,
            self._corpus.generator_settings.model,
            self._readiness.is_loading,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def _revision(self) -> str:
        """That of the documents; "" where they cannot be read, which whoever asks is told."""
        try:
            return self._corpus.revision
        except RagAppError:
            return ""
