"""The indexes derived from a corpus: in memory, from disk, or built now."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from indexing.index.snapshot import Snapshot, is_saved
from indexing.store.store import Store


@dataclass(frozen=True)
class CorpusView:
    """A corpus as it is at one moment, whatever is written meanwhile.

    Attributes:
        store: Its store, in a read transaction.
        derive: Loads or builds the indexes derived from it.
    """

    store: Store
    derive: Callable[[Store], Snapshot]

    @cached_property
    def snapshot(self) -> Snapshot:
        """The indexes."""
        return self.derive(self.store)


class Snapshots:
    """The latest snapshot of a corpus in memory, and the one on disk.

    Args:
        corpus: The folder of the corpus.
        notify: Called with a sentence when one cannot be saved.
    """

    def __init__(self, corpus: Path, notify: Callable[[str], None] | None) -> None:
        self._folder = corpus / ".index"  # hidden, so that indexing "." skips it
        self._lock = corpus / "index.lock"
        self._notify = notify
        self._latest: Snapshot | None = None

    def close(self) -> None:
        """Let go of it."""
        self._latest = None

    def are_saved(self, store: Store) -> bool:
        """Whether the snapshot of the store's generation is on disk."""
        return is_saved(self._folder, store)

    def damage(self, store: Store) -> str:
        """What is wrong with the files on disk; "" where they are sound, stale or not there."""
        return Snapshot.damage(self._folder, store)

    def rebuild(self, store: Store) -> None:
        """Delete what is on disk and build it again, while the write lock is held."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self.refresh(store)

    def current(self, store: Store) -> Snapshot:
        """The snapshot of the store's generation: in memory, from disk, or built now."""
        snapshot = self._latest
        if snapshot is None or snapshot.stamp != store.stamp:
            snapshot = Snapshot.load(self._folder, store)
        if snapshot is None:
            snapshot = Snapshot.build(store)
            self._keep(snapshot)
        self._latest = snapshot
        return snapshot

    def refresh(self, store: Store) -> None:
        """Build it again after a change, while the write lock is held.

        What is on disk as it was written is not loaded for that: FAISS would have to be imported.
        """
        if not self.are_saved(store):
            self._latest = Snapshot.build(store)
            self._keep(self._latest, patience=60)

    def _keep(self, snapshot: Snapshot, *, patience: float = 0) -> None:
        """Save a snapshot, one process at a time; where it cannot be, it is made again next time.

        A lock of its own: a search that saves must not make an `add` fail.
        """
        import filelock

        lock = filelock.FileLock(self._lock, timeout=patience)
        try:
            with lock:
                snapshot.save(self._folder)
        except filelock.Timeout:  # somebody else is saving one
            return
        except (OSError, RuntimeError) as error:  # FAISS raises the latter
            if self._notify is not None:
                self._notify(
                    f"{self._folder}: cannot be saved ({error}); each search builds it again"
                )
