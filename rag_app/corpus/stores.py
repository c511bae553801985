"""The store of a corpus: a connection for each thread, one process that writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

from indexing.store.database import FileIdentity, Synchronous
from indexing.store.database_errors import replaced
from indexing.store.store import FILE_NAME, Store
from rag_app.corpus import write_lock


class Stores:
    """Connections to the store in a folder."""

    def __init__(
        self,
        folder: Path,  # the folder of the corpus
        *,
        synchronous: Synchronous = "normal",  # what a power cut may take
        wait: float = 0.0,  # seconds that a writer waits for those who came before it
        notify: Callable[[str], None] | None = None,  # called with a sentence when that takes long
    ) -> None:
        self._folder, self._wait, self._notify = folder, wait, notify
        self._synchronous = synchronous
        self._patience = threading.local()
        self._opened: FileIdentity | None = None
        self._local = threading.local()
        self._open: WeakSet[Store] = WeakSet()

    def close(self) -> None:
        """Close them all; using them again opens them again."""
        for store in self._open:
            store.close()
        self._local, self._open = threading.local(), WeakSet()
        self._opened = None

    def connection(self, *, create: bool = False) -> Store:
        """This thread's connection, to the database that the folder holds now.

        Raises:
            CorpusNotFound: There is no corpus in the folder, and none is to be created.
        """
        store: Store | None = getattr(self._local, "store", None)
        if store is not None and not store.is_current:
            store.close()
            self._open.discard(store)
            store = None
        if store is None:
            self._local.store = None
            store = Store(self._folder, create=create, synchronous=self._synchronous)
            self._local.store = store
            self._open.add(store)
            self._opened = FileIdentity.of(store.path)
        return store

    @property
    def exists(self) -> bool:
        """Whether there is a corpus in the folder."""
        return (self._folder / FILE_NAME).exists()

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """This thread's connection, which shows the corpus at one moment.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        store = self.connection()
        with store.reading():
            yield store

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """This thread's connection, while no other process can write.

        Raises:
            CorpusLocked: Another process is writing, for longer than this one waits.
            CorpusReplaced: Another database lies in the folder than the one last opened, or none;
                the next call writes to what lies there.
            CorpusError: The folder cannot be written to.
        """
        with self.lock():
            yield self.connection(create=True)

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """What this thread writes inside waits so long for those who came before."""
        before = getattr(self._patience, "seconds", None)
        self._patience.seconds = seconds
        try:
            yield
        finally:
            self._patience.seconds = before

    @contextmanager
    def lock(self) -> Iterator[None]:
        """No other process can write; nothing is opened. Errors as in `writing`."""
        path = self._folder / FILE_NAME
        if self._opened is not None and FileIdentity.of(path) != self._opened:
            self._opened = None
            raise replaced(path)
        own = getattr(self._patience, "seconds", None)
        wait = self._wait if own is None else own
        with write_lock.lock(self._folder, wait=wait, notify=self._notify):
            yield
