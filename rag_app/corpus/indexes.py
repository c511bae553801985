"""What is derived from the store of a corpus: one snapshot, or the shards that it is divided into.

The store is the truth. Whatever is here is brought up to it while the write lock is held, and can
be made again at any time.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import CorpusDamaged, InvalidRequest, RagAppError
from indexing.filter import Filter, Scope
from indexing.index.merging import Held, all_of_them, due
from indexing.index.snapshot import Snapshot
from indexing.store.database import Synchronous
from indexing.store.store import Store
from rag_app.corpus.segments import Segments
from rag_app.corpus.shards.lost_replicas import LostReplicas
from rag_app.corpus.shards.manifest import Division, MissingShards, ShardManifest
from rag_app.corpus.shards.parts import CorpusParts, CorpusView
from rag_app.corpus.shards.shards import Shards
from rag_app.corpus.stores import Stores
from rag_app.corpus.write_lock import lock

if TYPE_CHECKING:
    from rag_app.corpus.shards.ray_cluster import RemoteShards

PUBLICATION = 0.5  # seconds between two segments of a long `add`
BACKGROUND = 10  # how nice a merge in a pause is
FOR_OTHERS = 5.0  # seconds that it waits for writers, to publish a shard


class Indexes:
    """The indexes of a corpus, in one piece or in shards."""

    def __init__(
        self,
        folder: Path,  # the folder of the corpus
        stores: Stores,  # its documents
        *,
        synchronous: Synchronous = "normal",  # what a power cut may take
        # called with a sentence about whatever takes long or is left undone
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self._folder, self._stores, self._notify = folder, stores, notify
        self._segments = Segments(folder, notify)
        self._shards = Shards(folder, synchronous=synchronous, notify=notify)
        self._lost_replicas = LostReplicas()
        self._merging: threading.Thread | None = None
        self._closed = threading.Event()

    def close(self) -> None:
        """Let go of files and memory."""
        self._closed.set()
        if self._merging is not None:
            self._merging.join()
        self._merging, self._closed = None, threading.Event()
        self._segments.close()
        self._shards.close()

    @property
    def manifest(self) -> ShardManifest | None:
        """The shards that are published; None where the corpus is in one piece."""
        return self._shards.manifest

    # Reading

    def snapshot(self, store: Store) -> Snapshot:
        """Of the whole store as it is read now, whether it is divided or not."""
        return self._segments.current(store)

    @property
    def published(self) -> Segments | Shards:
        """What searches read."""
        return self._segments if self.manifest is None else self._shards

    @contextmanager
    def local_parts(self, where: Filter | None, scope: Scope) -> Iterator[CorpusParts]:
        """The corpus as it is published now, read in this process."""
        with self._stores.reading() as store:
            rows = store.limited(where, scope).scope
            if self.manifest is None:
                yield CorpusParts((CorpusView(store, self.snapshot),), rows)
                return
            with self._shards.reading(rows) as parts:
                yield parts

    @contextmanager
    def parts(
        self, where: Filter | None, scope: Scope, *, missing: MissingShards = "fail"
    ) -> Iterator[CorpusParts | RemoteShards]:
        """The corpus as it is published now, read where it is."""
        self._stores.connection()  # there is a corpus
        manifest = self.manifest
        if manifest is None or not manifest.ray:
            with self.local_parts(where, scope) as parts:
                yield parts
            return
        from rag_app.corpus.shards.ray_cluster import RemoteShards

        with self._stores.reading() as store:
            rows = store.limited(where, scope).scope
        away = self._lost_replicas
        yield RemoteShards(self._folder, manifest, rows, missing=missing, away=away)

    # Writing, while the write lock of the corpus is held

    def refresh(self, store: Store) -> None:
        """Bring them up to a changed store."""
        self.published.refresh(store)
        self._load_actors()

    @contextmanager
    def publishing(self, store: Store) -> Iterator[None]:
        """Whatever is committed inside is found within about a second; all of it afterwards."""
        if self.manifest is not None:
            yield
            self.refresh(store)
            return
        done, before = threading.Event(), store.index.latest
        thread = threading.Thread(target=self._publish_until, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._segments.refresh(store, since=before)

    def _publish_until(self, done: threading.Event) -> None:
        """Index what another thread commits, while that holds the write lock.

        What is pressing is merged beside it, so that no document waits for that.
        """
        merge = partial(self._merge, done, partial(due, most=0))
        merging = threading.Thread(target=merge, daemon=True)
        while not done.wait(PUBLICATION):
            try:
                with closing(Store(self._folder)) as store:
                    self._segments.publish(store)
            except RagAppError as error:  # which ends nothing: it is done again at the end
                if self._notify is not None:
                    self._notify(str(error))
            if not merging.is_alive():
                merging = threading.Thread(target=merge, daemon=True)
                merging.start()
        if merging.ident is not None:
            merging.join()

    def rebuild(self, store: Store) -> None:
        """Make them again, whatever is on disk."""
        self.published.rebuild(store)
        self._load_actors()

    def merge_in_background(self) -> None:
        """Merge what is due, beside whatever else is done: nobody waits for it."""
        if self._merging is None or not self._merging.is_alive():
            merge = partial(self._merge, self._closed, due, nice=BACKGROUND)
            thread = threading.Thread(target=merge, name="merge", daemon=True)
            thread.start()  # before `close` can see it, which joins it
            self._merging = thread

    def _merge(
        self, end: threading.Event, choose: Callable[[Held], list[int]], *, nice: int = 0
    ) -> None:
        if nice and sys.platform == "linux":  # where it is of this thread alone
            own = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, 0, max(own, nice))
        with suppress(RagAppError), closing(Store(self._folder)) as store:
            if store.database.read_only:
                return
            if self.manifest is None:
                self._segments.merge(store, choose, wanted=lambda: not end.is_set())
            else:
                publishing = partial(lock, self._folder, wait=FOR_OTHERS)
                self._shards.merge(choose, wanted=lambda: not end.is_set(), publishing=publishing)
                self._load_actors()

    def optimize(self, store: Store) -> int:
        """Make one segment of all, or of all in each shard; how many there were."""
        self.refresh(store)
        segments = self.published.count(store)
        if self.manifest is None:
            self._segments.merge(store, all_of_them)
        else:
            self._shards.merge(all_of_them)
            self._load_actors()
        return segments

    # Dividing

    def divide(self, division: Division) -> ShardManifest:
        """Divide the corpus, or divide it in another way; what was published.

        Raises:
            InvalidRequest: There cannot be so many, or the cluster is not there or too small.
            ShardLost: A shard does not begin on the cluster.
        """
        self._stores.connection()
        name = self._name_on_cluster(division)
        with self._stores.writing() as store:
            self._release_actors()
            manifest = self._shards.divide(store, replace(division, name=name))
        if division.ray:
            from rag_app.corpus.shards.actors import start

            start(self._folder, manifest)
        return manifest

    def unite(self) -> None:
        """Put the corpus in one piece again."""
        self._stores.connection()
        with self._stores.writing() as store:
            self._release_actors()
            self._shards.unite()
            self._segments.refresh(store)

    def _name_on_cluster(self, division: Division) -> str:
        """What the corpus is called on the cluster, which has been found to have room for it."""
        if not division.ray:
            if division.gpus:
                raise InvalidRequest("GPUs compare the vectors of shards on a Ray cluster only")
            return division.name
        from rag_app.corpus.cluster.address import corpus_name, require_free
        from rag_app.corpus.cluster.connection import connect
        from rag_app.corpus.shards.actors import require_gpus

        name = corpus_name(division.name, self._folder)
        require_free(connect(division.ray), name, self._folder)
        require_gpus(connect(division.ray), division.gpus, division.shards * division.replicas)
        return name

    def _load_actors(self) -> None:
        """Let a cluster load what was published; what it does not is loaded with a question."""
        manifest = self.manifest
        if manifest and manifest.ray:
            from rag_app.corpus.shards.actors import start

            try:
                start(self._folder, manifest)
            except RagAppError as error:
                if self._notify is not None:
                    self._notify(str(error))

    def _release_actors(self) -> None:
        """End the actors of a cluster that searched until now."""
        self._lost_replicas = LostReplicas()
        try:
            manifest = self.manifest
        except CorpusDamaged:  # about to be made again
            return
        if manifest and manifest.ray:
            from rag_app.corpus.shards.actors import release

            release(self._folder, manifest)
