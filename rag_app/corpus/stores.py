"""The store of a corpus: a connection for each thread, one process that writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

import filelock

from indexing.errors import CorpusError, CorpusLocked
from indexing.store.database import make_folder
from indexing.store.store import Store


class Stores:
    """Connections to the store in a folder.

    Args:
        folder: The folder of the corpus.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._local = threading.local()
        self._open: WeakSet[Store] = WeakSet()

    def close(self) -> None:
        """Close them all; using them again opens them again."""
        for store in self._open:
            store.close()
        self._local, self._open = threading.local(), WeakSet()

    def connection(self, *, create: bool = False) -> Store:
        """This thread's connection.

        Raises:
            CorpusNotFound: There is no corpus in the folder, and none is to be created.
        """
        store: Store | None = getattr(self._local, "store", None)
        if store is None:
            store = self._local.store = Store(self._folder, create=create)
            self._open.add(store)
        return store

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """This thread's connection, while no other process can write.

        Raises:
            CorpusLocked: Another process is writing.
            CorpusError: The folder cannot be written to.
        """
        make_folder(self._folder)
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
            yield self.connection(create=True)
        finally:
            lock.release()
