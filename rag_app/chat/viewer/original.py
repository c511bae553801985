"""The file that a document was read from, as long as it is still there and still the same."""

from __future__ import annotations

import stat
import threading
from collections import ChainMap
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from cachetools import LRUCache, cachedmethod

from indexing.documents import Document
from indexing.files import FileReader
from indexing.filter import OWNER
from indexing.message import N_
from indexing.store.file_states import FileState
from rag_app.corpus.access import SharedCorpus

GONE = N_("The file is no longer where it was. This is its text, as it was read.")
CHANGED = N_("The file has changed since it was read. This is its text, as it was then.")


@dataclass(frozen=True, slots=True)
class Original:
    """The file of a document."""

    path: Path | None = None  # where it lies; None where it cannot be shown
    state: FileState | None = None  # its size and time
    problem: str = ""  # why it cannot be shown; "" for a text that never was a file

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is as it was a moment ago."""
        return self.path is not None and _state(self.path) == self.state


def _content(_: Originals, document: Document, path: Path, state: FileState) -> tuple[object, ...]:
    return path, document.part, document.digest, state


class Originals:
    """Finds the files of documents; what may have changed is read again and compared."""

    def __init__(self, corpus: SharedCorpus) -> None:
        self._corpus = corpus
        # which waits for no file that is being indexed
        self._reader = FileReader(corpus.limits, corpus.ocr)
        self._same: LRUCache[object, bool] = LRUCache(256)
        self._lock = threading.Lock()  # not held over a file: it may be large, or on a slow disk

    def close(self) -> None:
        """End the process that reads files; another comparison starts one again."""
        self._reader.close()

    def of(self, document: Document) -> Original:
        """The file of a document, at the path that it has for whoever may see it."""
        path = Path(document.path)
        if not path.is_absolute():
            return Original()
        state = _state(path)
        if state is None:
            return Original(problem=GONE)
        if self._was_read(document, state) or self._reads_the_same(document, path, state):
            return Original(path, state)
        return Original(problem=CHANGED)

    def _was_read(self, document: Document, state: FileState) -> bool:
        """Whether a collection that holds the document read its file in this state."""
        with self._corpus.seen_by(OWNER).reading() as now:
            names = [
                name for name, path, *_ in now.store.places(document.id) if path == document.path
            ]
            return any(
                now.store.files.state(document.path, collection=name) == state for name in names
            )

    @cachedmethod(attrgetter("_same"), key=_content, lock=attrgetter("_lock"))
    def _reads_the_same(self, document: Document, path: Path, state: FileState) -> bool:
        """Whether the file, read again, holds just this document."""
        with self._corpus.seen_by(OWNER).reading() as now:
            known = ChainMap({}, now.store.pictures.readings())  # pictures that are not read again
            entries = self._reader.read(path, readings=known)
        return any(
            isinstance(one, Document) and (one.part, one.digest) == (document.part, document.digest)
            for one in entries
        )


def _state(path: Path) -> FileState | None:
    """Size and time of a file; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return FileState(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
