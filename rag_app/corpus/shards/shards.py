"""A corpus in shards: its store divided into several, each with a snapshot, searched as one.

The corpus's own store stays the truth, and is written as in one piece. Publishing brings the shards
up to it: of each that has changed, the next state is made beside the one that is searched, with
documents and vectors copied as they are; then one manifest names the new states. A search pins a
manifest, and reads nothing but what this names; a publisher that is killed leaves the old one.
Everything here is derived, and can be made again.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import replace
from pathlib import Path

import numpy as np

from indexing.errors import CorpusDamaged, CorpusError, CorpusNotFound, InvalidRequest
from indexing.index.merging import Held, due
from indexing.index.snapshot import Snapshot
from indexing.store.database import Synchronous
from indexing.store.store import FILE_NAME, Store
from indexing.store.transfer import transfer, versions
from rag_app.corpus.segments import INDEX, SUFFIX, Segments, merging_in
from rag_app.corpus.shards.manifest import Division, ShardManifest, ShardState, folder_of, shard_of
from rag_app.corpus.shards.page_delta import write_delta
from rag_app.corpus.shards.parts import CorpusParts, CorpusView
from rag_app.corpus.stores import Stores
from rag_app.corpus.write_lock import lock

MOST = 4096  # shards
MERGED = "merged"  # folder in which the next state of a shard is merged
VERSIONS = "versions.npy"  # (documents, 2): row and version of what a state holds


class Shards:
    """The shards of a corpus, where it is divided."""

    def __init__(
        self,
        corpus: Path,  # the folder of the corpus
        *,
        synchronous: Synchronous = "normal",  # what a power cut may take
        notify: Callable[[str], None] | None = None,  # told in a sentence what takes long
        # where vectors are compared, as torch calls it; "" for the CPU, without torch
        device: str = "",
    ) -> None:
        self.folder = corpus / ".shards"  # hidden, so that indexing "." skips it
        self._synchronous, self._notify, self._device = synchronous, notify, device
        self._open: dict[ShardState, tuple[Stores, Snapshot]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of files and snapshots."""
        for stores, _ in self._open.values():
            stores.close()
        self._open = {}

    @property
    def manifest(self) -> ShardManifest | None:
        """What is published; None where the corpus is in one piece."""
        return ShardManifest.read(self.folder)

    def are_current(self, store: Store) -> bool:
        """Whether what is published is the store as it is now."""
        manifest = self.manifest
        return manifest is not None and manifest.revision == store.revision

    # Publishing, while the write lock of the corpus is held

    def divide(self, store: Store, division: Division) -> ShardManifest:
        """Divide a store, or divide it in another way, and publish.

        Raises:
            InvalidRequest: The number of shards is out of range.
        """
        count = division.shards
        if not 1 <= count <= MOST:
            raise InvalidRequest(f"{count} shards cannot be; give 1 to {MOST}")
        before = self.manifest or ShardManifest(0, "", ())
        known = {one.name: one for one in before.shards}
        empty = (ShardState(str(n), 0, "", 0, 0) for n in range(count))
        shards = tuple(known.get(one.name, one) for one in empty)
        draft = replace(before, shards=shards, previous=before.folders)
        return self._publish(store, division.placed(draft))

    def refresh(self, store: Store) -> None:
        """Bring the shards up to the store; those of which nothing has changed stay as they are."""
        manifest = self.manifest
        if manifest is not None and manifest.revision != store.revision:
            self._publish(store, replace(manifest, previous=manifest.folders))

    def rebuild(self, store: Store) -> None:
        """Make all shards again, whatever they hold."""
        manifest = self.manifest
        assert manifest is not None
        empty = tuple(ShardState(one.name, 0, "", 0, 0) for one in manifest.shards)
        self._publish(store, replace(manifest, shards=empty, previous=manifest.folders))

    def damage(self, _: Store) -> str:
        """What is wrong with what is published; "" where it is sound."""
        manifest = self.manifest
        for state in manifest.shards if manifest else ():
            folder = self.folder / folder_of(state)
            try:
                with closing(Store(folder)) as store:
                    if store.stamp != state.stamp:
                        return f"shard {state.name} is not as it was published"
                    if reason := self._segments(folder).damage(store):
                        return f"shard {state.name}: {reason}"
            except CorpusError as error:
                return f"shard {state.name}: {error}"
        return ""

    def unite(self) -> None:
        """Delete the shards; the corpus is searched in one piece again."""
        (self.folder / "manifest.json").unlink(missing_ok=True)
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _publish(self, store: Store, before: ShardManifest) -> ShardManifest:
        generation = before.generation + 1
        names = [one.name for one in before.shards]
        with store.reading():
            revision = store.revision
            contents: dict[str, dict[int, int]] = {name: {} for name in names}
            for row, id_, version in versions(store):
                contents[shard_of(id_, names)][row] = version
            states = tuple(
                self._prepare(store, one, contents[one.name], generation) for one in before.shards
            )
        manifest = replace(before, generation=generation, revision=revision, shards=states)
        manifest.write(self.folder)
        self._drop_others(manifest)
        return manifest

    def _prepare(
        self, store: Store, before: ShardState, contents: Mapping[int, int], generation: int
    ) -> ShardState:
        """The next state of a shard; the one before where nothing in it changes."""
        previous = self._versions(before)
        if before.generation and previous == contents:
            return before
        if self._notify:
            self._notify(f"shard {before.name}: {len(contents)} documents")
        draft = self._copied(before, "draft")
        with closing(Store(draft, create=True)) as shard:
            changed = [row for row, version in contents.items() if previous.get(row) != version]
            transfer(store, shard, changed, removed=previous.keys() - contents.keys())
            self._segments(draft).refresh(shard)
            self._segments(draft).tidy(shard, grace=0)
            snapshot, stamp = self._segments(draft).current(shard), shard.stamp
        np.save(draft / VERSIONS, np.array(list(contents.items()), np.int64).reshape(-1, 2))
        sizes = len(snapshot.document_rows), snapshot.passages
        state = ShardState(before.name, generation, stamp, *sizes)
        self._place(draft, before, state)
        return state

    def _copied(self, state: ShardState, name: str) -> Path:
        """A folder beside a state, with what it holds."""
        draft = self.folder / state.name / name
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        if state.generation:
            with closing(Store(self.folder / folder_of(state))) as old:
                old.database.copy(draft / FILE_NAME)
            copy_segments(self.folder / folder_of(state), draft)
        return draft

    def _place(self, draft: Path, before: ShardState, state: ShardState) -> None:
        """Put what the state before has become in its place."""
        if before.generation:
            database = self.folder / folder_of(before) / FILE_NAME
            write_delta(database, draft / FILE_NAME, before.stamp)
        target = self.folder / folder_of(state)
        shutil.rmtree(target, ignore_errors=True)  # of a publisher that was killed
        draft.rename(target)

    def _segments(self, folder: Path) -> Segments:
        """Those of a state, which compare all vectors: so shards score as one piece."""
        return Segments(folder, exact=True, device=self._device, keeps=False)

    def _versions(self, state: ShardState) -> dict[int, int]:
        """Row and version of each document of a state."""
        if not state.generation:
            return {}
        array = np.load(self.folder / folder_of(state) / VERSIONS, allow_pickle=False)
        return {int(row): int(version) for row, version in array}

    def _drop_others(self, manifest: ShardManifest) -> None:
        """Delete states that no reader can open any more."""
        merged = (f"{one.name}/{MERGED}" for one in manifest.shards)
        keep = {*manifest.folders, *manifest.previous, *merged}
        for one in self.folder.glob("*/*"):
            if one.relative_to(self.folder).as_posix() not in keep:
                shutil.rmtree(one, ignore_errors=True)

    # Merging, beside whoever writes

    def merge(
        self,
        choose: Callable[[Held], list[int]] = due,
        *,
        wanted: Callable[[], bool] = lambda: True,
        publishing: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Merge segments in each shard; one that others change meanwhile stays as they leave it.

        Args:
            choose: Which of a shard's segments become one; none to end.
            wanted: Asked between the steps; where it is not, nothing has changed.
            publishing: Holds the write lock of the corpus, if the caller does not.

        Raises:
            CorpusLocked: Others merge, or write for longer than `publishing` waits.
            CorpusError: A shard cannot be read or written.
        """
        with lock(self.folder):
            manifest = self.manifest
            for left in self.folder.glob(f"*/{MERGED}"):  # by a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            for state in manifest.shards if manifest else ():
                if state.generation and wanted():
                    self._merge(state, choose, wanted, publishing)

    def _merge(
        self,
        before: ShardState,
        choose: Callable[[Held], list[int]],
        wanted: Callable[[], bool],
        publishing: Callable[[], AbstractContextManager[object]],
    ) -> None:
        folder = self.folder / folder_of(before)
        with closing(Store(folder)) as old:
            if not self._segments(folder).are_due(old, choose):
                return
        draft = self.folder / before.name / MERGED
        try:
            self._copied(before, MERGED)
            with closing(Store(draft)) as shard:
                segments = self._segments(draft)
                segments.merge(shard, choose, wanted=wanted)
                segments.tidy(shard, grace=0)
                shard.renew()
                stamp = shard.stamp
            shutil.copy2(folder / VERSIONS, draft / VERSIONS)
            if wanted():
                with publishing():
                    self._swap(draft, before, stamp)
        except OSError as error:
            raise CorpusError(f"{draft}: cannot be written ({error}); make room for it") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _swap(self, draft: Path, before: ShardState, stamp: str) -> None:
        """Publish what has been merged, unless others were faster."""
        manifest = self.manifest
        if manifest is None or before not in manifest.shards:
            return
        state = replace(before, generation=manifest.generation + 1, stamp=stamp)
        self._place(draft, before, state)
        shards = tuple(state if one == before else one for one in manifest.shards)
        after = replace(
            manifest, generation=state.generation, shards=shards, previous=manifest.folders
        )
        after.write(self.folder)
        self._drop_others(after)

    @property
    def merging(self) -> str:
        """Who merges now, in words; "" for nobody."""
        return merging_in(self.folder)

    def count(self, _: Store) -> int:
        """How many segments all shards have together."""
        return self._total(Segments.count)

    def waiting(self, _: Store) -> int:
        """How many segments wait to be merged in a pause."""
        return self._total(Segments.waiting)

    def _total(self, count: Callable[[Segments, Store], int]) -> int:
        """A number of each shard that can be read, added up."""
        total, manifest = 0, self.manifest
        for state in manifest.shards if manifest else ():
            folder = self.folder / folder_of(state)
            with suppress(CorpusError), closing(Store(folder)) as store:
                total += count(self._segments(folder), store)
        return total

    # Reading

    @contextmanager
    def reading(self, scope: tuple[int, ...] | None = None) -> Iterator[CorpusParts]:
        """The shards as they are published now, whatever is published meanwhile.

        Raises:
            CorpusDamaged: A state is not as it was published.
        """
        with ExitStack() as stack:
            manifest = self.manifest
            while True:
                assert manifest is not None, "a corpus in one piece is read from its own snapshot"
                try:
                    pinned = [self.pin(one, stack) for one in manifest.shards if one.documents]
                    break
                except CorpusNotFound:  # published twice since the manifest was read
                    before, manifest = manifest, self.manifest
                    if manifest == before:
                        raise
            self.forget_others(manifest.shards)
            yield CorpusParts(tuple(pinned), scope)

    def pin(self, state: ShardState, stack: ExitStack) -> CorpusView:
        """One shard, until a stack is closed."""
        stores, snapshot = self._opened(state)
        store = stores.connection()
        stack.enter_context(store.reading())
        return CorpusView(store, lambda _: snapshot, state.name)

    def _opened(self, state: ShardState) -> tuple[Stores, Snapshot]:
        with self._lock:
            if state not in self._open:
                folder = self.folder / folder_of(state)
                stores = Stores(folder, synchronous=self._synchronous)
                store = stores.connection()
                if store.stamp != state.stamp:
                    raise CorpusDamaged(
                        f"{folder}: not as it was published; publish again with: "
                        "rag-app cluster init"
                    )
                self._open[state] = stores, self._segments(folder).current(store)
            return self._open[state]

    def forget_others(self, states: Iterable[ShardState]) -> None:
        """Let go of all states but these; a search that pins one keeps it open."""
        with self._lock:
            for state in self._open.keys() - {*states}:
                del self._open[state]


def copy_segments(source: Path, target: Path) -> None:
    """Let a folder have the segments of another: links, where the file system has them."""
    (target / INDEX).mkdir(parents=True, exist_ok=True)
    for path in (source / INDEX).glob(f"*{SUFFIX}"):
        copy = target / INDEX / path.name
        try:
            os.link(path, copy)
        except OSError:
            shutil.copy2(path, copy)
