"""The store of a corpus: a connection for each thread, one process that writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

from indexing.errors import CorpusError, CorpusLocked
from indexing.store.database import FileIdentity, Synchronous, make_folder, replaced
from indexing.store.store import FILE_NAME, Store


class Stores:
    """Connections to the store in a folder.

    Args:
        folder: The folder of the corpus.
        synchronous: What a power cut may take.
    """

    def __init__(self, folder: Path, *, synchronous: Synchronous = "normal") -> None:
        self._folder = folder
        self._synchronous = synchronous
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
            CorpusLocked: Another process is writing.
            CorpusReplaced: Another database lies in the folder than the one last opened, or none;
                the next call writes to what lies there.
            CorpusError: The folder cannot be written to.
        """
        with self.lock():
            yield self.connection(create=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """No other process can write; nothing is opened. Errors as in `writing`."""
        path = self._folder / FILE_NAME
        if self._opened is not None and FileIdentity.of(path) != self._opened:
            self._opened = None
            raise replaced(path)
        make_folder(self._folder)
        import filelock

        lock = filelock.FileLock(self._folder / "write.lock", timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise CorpusLocked(
                f"{self._folder}: another process is writing to this corpus; wait until it is done "
                "(searching and asking go on meanwhile)"
            ) from error
        except OSError as error:
            raise CorpusError(
                f"{self._folder}: cannot be written to ({error.strerror or error}); "
                "give yourself the right to write there, or name another with --corpus"
            ) from error
        try:
            yield
        finally:
            lock.release()
