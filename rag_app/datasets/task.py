"""A retrieval task: documents, and queries that each have one right document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from indexing.documents import Document


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """A query, and the position of the document that answers it."""

    text: str
    gold: int


@dataclass(frozen=True, slots=True)
class Task:
    """What is retrieved from, and with what.

    Attributes:
        name: As the command line spells it, such as "qmsum" or "passkey-256".
        documents: No two of the same digest.
        queries: In any order.
    """

    name: str
    documents: tuple[Document, ...]
    queries: tuple[TaskQuery, ...]

    @property
    def digest(self) -> str:
        """Of all documents, in order: what a corpus of them is recognised by."""
        digests = "".join(document.digest for document in self.documents)
        return hashlib.sha256(digests.encode()).hexdigest()

    @property
    def statistics(self) -> dict[str, int]:
        """Numbers to check a task by: how much of everything there is."""
        return {
            "documents": len(self.documents),
            "queries": len(self.queries),
            "document_characters": sum(len(document.text) for document in self.documents),
            "query_characters": sum(len(query.text) for query in self.queries),
        }
