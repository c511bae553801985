"""What a search is limited to: collections, documents, a path pattern, a speaker."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is limited to; an empty part limits nothing.

    Attributes:
        documents: Ids or titles of documents.
        path: A pattern such as "*/minutes/*.vtt" for the whole path, or for the end of it.
        speaker: Part of a speaker's name, in any case: passages in which they speak.
        collections: Names of collections; what is in none of them is not there.
        person: A login name: only collections that this person may read; None limits nothing.
    """

    documents: tuple[str, ...] = ()
    path: str | None = None
    speaker: str | None = None
    collections: tuple[str, ...] = ()
    person: str | None = None

    def __bool__(self) -> bool:
        limited = self.collections or self.person is not None
        return bool(self.documents or self.path or self.speaker or limited)

    def admits(self, *, id_: str, title: str, path: str) -> bool:
        """Whether a document of the collections passes, its speakers aside."""
        if self.documents and id_ not in self.documents and title not in self.documents:
            return False
        pattern = self.path
        return not pattern or fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
