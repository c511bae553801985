"""A retrieval task: documents, and queries with one relevant document each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from indexing.documents import Document


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """A query, and the position of the relevant document."""

    text: str
    gold: int


@dataclass(frozen=True, slots=True)
class Task:
    """Documents and queries.

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
        """SHA-256 over the digests of all documents, in order."""
        digests = "".join(document.digest for document in self.documents)
        return hashlib.sha256(digests.encode()).hexdigest()

    @property
    def statistics(self) -> dict[str, int]:
        """Counts of documents, queries and characters, to check a task by."""
        return {
            "documents": len(self.documents),
            "queries": len(self.queries),
            "document_characters": sum(len(document.text) for document in self.documents),
            "query_characters": sum(len(query.text) for query in self.queries),
        }
