"""What a search is limited to: documents, a path pattern, a speaker."""

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
    """

    documents: tuple[str, ...] = ()
    path: str | None = None
    speaker: str | None = None

    def __bool__(self) -> bool:
        return bool(self.documents or self.path or self.speaker)

    def admits(self, *, id_: str, title: str, path: str) -> bool:
        """Whether a document passes, its speakers aside."""
        if self.documents and id_ not in self.documents and title not in self.documents:
            return False
        pattern = self.path
        return not pattern or fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
