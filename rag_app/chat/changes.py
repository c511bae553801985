"""Whether anything that a page shows has changed, also in other windows and processes."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from indexing.errors import RagAppError
from rag_app.chat.application import Application


def mark(app: Application, chats: str, person: str | None = None) -> str:
    """A mark that differs from an earlier one if what a person sees has changed since.

    `chats` names the folder with their conversations (`ConversationStore.name`).
    """
    revision = ""
    with suppress(RagAppError):  # documents that cannot be read, which whoever asks is told
        revision = app.corpus.revision
    look = app.suggestions.known(person)
    parts = (
        revision,
        app.ingest_queue.of(person),
        app.conversations.state(chats),
        look.about and look.about.document,
        look.questions,
        app.models.current,
        app.readiness.is_loading,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
