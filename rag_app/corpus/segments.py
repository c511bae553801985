"""The segments of a corpus: written by whoever may write, pinned by searches.

A writer indexes what has been committed in a segment of its own, and merges segments of a size. A
search takes the segments that its transaction names, and builds nothing; only where nobody writes,
and documents are in no segment or a file is damaged, does it make up for that, once.
"""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from indexing.errors import CorpusError, ManifestDamaged
from indexing.index.array_file import Seal
from indexing.index.merging import (
    AT_ONCE,
    Dead,
    Held,
    Interrupted,
    due,
    later,
    merge,
    passages_held,
)
from indexing.index.segment import Segment
from indexing.index.snapshot import Snapshot
from indexing.store.index_state import Manifest, SegmentEntry
from indexing.store.store import Store
from rag_app.corpus.write_lock import holder, is_locked, lock

INDEX = ".index"  # hidden, so that indexing "." skips it
SUFFIX = ".segment"
GRACE = 300.0  # seconds for which a file stays that a reader may be about to open


@dataclass(frozen=True)
class _Pinned:
    """What was read last, and of what it was made."""

    key: object
    snapshot: Snapshot


class Segments:
    """The segments of a corpus, and the latest snapshot of them in memory."""

    def __init__(
        self,
        corpus: Path,  # the folder of the corpus
        # called with a sentence when one cannot be saved
        notify: Callable[[str], None] | None = None,
        *,
        exact: bool = False,  # whether all vectors are compared, however many
        # where vectors are compared, as torch calls it; "" for the CPU, without torch
        device: str = "",
        keeps: bool = True,  # whether a search writes down what it had to build
    ) -> None:
        self.folder = corpus / INDEX
        self._corpus, self._notify, self._exact, self._device = corpus, notify, exact, device
        self._keeps = keeps
        self._open: dict[str, Segment] = {}
        self._latest: _Pinned | None = None
        self._unsaved: tuple[object, Segment] | None = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of them."""
        self._latest, self._unsaved, self._open = None, None, {}

    # Reading

    def are_current(self, store: Store) -> bool:
        """Whether every document is in a segment, and every segment is on disk."""
        with store.reading():
            try:
                manifest = store.index.manifest()
            except ManifestDamaged:
                return False
            entries = [entry for _, entry in manifest.segments]
            return store.index.is_complete and all(map(self._is_as_written, entries))

    def current(self, store: Store) -> Snapshot:
        """The index of the store as it is read now."""
        with store.reading():
            try:
                manifest, unindexed = store.index.manifest(), tuple(store.index.unindexed())
            except ManifestDamaged:  # told by `damage`
                manifest, unindexed = Manifest((), ()), tuple(store.rows())
            latest = self._latest
            if latest is not None and latest.key == (manifest, unindexed):
                return latest.snapshot
            with self._lock:
                snapshot = self._derive(store, manifest, unindexed)
            self._latest = _Pinned((manifest, unindexed), snapshot)
            return snapshot

    def _derive(self, store: Store, manifest: Manifest, unindexed: tuple[int, ...]) -> Snapshot:
        found = {number: self._opened(entry) for number, entry in manifest.segments}
        broken = [number for number, segment in found.items() if segment is None]
        parts = [(one, manifest.dead_in(number)) for number, one in found.items() if one]
        missing = set(unindexed) if not broken else _in_none(store, parts)
        names = tuple(entry.name for _, entry in manifest.segments)
        unsaved = self._unsaved[1] if self._unsaved and self._unsaved[0] == names else None
        covered = set() if unsaved is None else {*unsaved.document_rows.tolist()}
        if not missing <= covered and (not (parts or unsaved) or broken or not self._is_written()):
            unsaved = Segment.build(store, sorted(missing), exact=self._exact)
            covered = {*unsaved.document_rows.tolist()}
            self._unsaved = names, unsaved
            if self._keeps and not store.database.read_only:
                self._make_up(unsaved, broken)
        if unsaved is not None and missing:
            parts.append((unsaved, sorted(covered - missing)))
        self._close_others(manifest)
        before = self._latest.snapshot if self._latest else None
        snapshot = Snapshot.of(parts, exact=self._exact, before=before)
        return snapshot.on(self._device) if self._device else snapshot

    def _close_others(self, manifest: Manifest) -> None:
        """Let go of the segments that were merged."""
        used = {entry.name for _, entry in manifest.segments}
        self._open = {name: one for name, one in self._open.items() if name in used}

    def _opened(self, entry: SegmentEntry) -> Segment | None:
        """A segment; None where its file is not as it was written."""
        if entry.name not in self._open:
            if not self._is_as_written(entry):
                return None
            try:
                self._open[entry.name] = Segment.load(self._path(entry))
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
                return None
        return self._open[entry.name]

    def _is_as_written(self, entry: SegmentEntry) -> bool:
        return _seal(entry).fits(self._path(entry))

    def _path(self, entry: SegmentEntry) -> Path:
        return self.folder / f"{entry.name}{SUFFIX}"

    def _is_written(self) -> bool:
        """Whether somebody is writing, who will index what is missing."""
        return is_locked(self._corpus)

    def _make_up(self, segment: Segment, broken: Iterable[int]) -> None:
        """Keep a segment that a search had to build, if nobody writes and this process may."""
        with (
            suppress(CorpusError, OSError),
            lock(self._corpus),
            closing(Store(self._corpus)) as own,
        ):
            rows = segment.document_rows.tolist()
            numbers = {number for number, _ in own.index.manifest().segments}
            if broken := [number for number in broken if number in numbers]:
                own.index.drop(broken, rows)
            if set(rows) <= set(own.index.unindexed()):
                self._publish(own, segment)

    def damage(self, store: Store) -> str:
        """What is wrong with the files on disk; "" where nothing is."""
        with store.reading():
            try:
                manifest, unindexed = store.index.manifest(), store.index.unindexed()
            except ManifestDamaged as error:
                return f"the manifest of its segments cannot be read ({error.__cause__})"
            for _, entry in manifest.segments:
                if reason := self._damage_of(entry):
                    return f"segment {entry.name} {reason}"
            if (latest := self._latest_on_disk()) > store.generation:
                return (
                    f"of generation {latest}, the database is at {store.generation}: its last "
                    "changes are lost; run rag-app index again"
                )
            found = ((self._opened(one), manifest.dead_in(n)) for n, one in manifest.segments)
            held = _held((one, dead) for one, dead in found if one is not None)
            fits = sorted(held + unindexed) == _rows(store)
        return "" if fits else "its segments do not hold the documents that are there"

    def _damage_of(self, entry: SegmentEntry) -> str:
        if not self._path(entry).exists():
            return "is not there"
        if not _seal(entry).fits(self._path(entry), whole=True):
            return "is not as it was written"
        return "" if self._opened(entry) else "cannot be read"

    def _latest_on_disk(self) -> int:
        """The generation of the latest segment that was written here."""
        names = (path.stem.split("-")[0] for path in self.folder.glob(f"*{SUFFIX}"))
        return max((int(name) for name in names if name.isdecimal()), default=0)

    # Writing, while the write lock of the corpus is held

    def refresh(self, store: Store, *, since: int | None = None) -> None:
        """Index what has been committed, and merge what is due and takes no minutes.

        Args:
            store: The documents.
            since: The latest segment before what is committed; all that came since become one.
        """
        self.publish(store)
        if since is not None:
            self.merge(store, partial(later, than=since))
        self.merge(store, partial(due, most=AT_ONCE))

    def publish(self, store: Store) -> None:
        """Index what has been committed since the last time."""
        rows = store.index.unindexed()
        if rows:
            self._publish(store, Segment.build(store, rows, exact=self._exact))

    def rebuild(self, store: Store) -> None:
        """Make damaged segments again; all of them if none can be told."""
        with store.reading():
            try:
                manifest = store.index.manifest()
                found = {number: (entry, self._sound(entry)) for number, entry in manifest.segments}
            except ManifestDamaged:
                found = {}
            broken = [number for number, (_, segment) in found.items() if segment is None]
            parts = [(s, manifest.dead_in(n)) for n, (_, s) in found.items() if s is not None]
            missing = _in_none(store, parts)
        self.close()
        if broken and parts:
            store.index.drop(broken, sorted(missing))
            self.refresh(store)
        if not broken or not parts or self.damage(store):
            with store.database.writing():
                store.index.clear()
            self.refresh(store)
        self.tidy(store, grace=0)

    def merge(
        self,
        store: Store,  # the documents
        # which of those that there are become one; none to end
        choose: Callable[[Held], list[int]] = due,
        *,
        # asked between the steps; where it is not, nothing has changed
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Merge segments until none are chosen; the write lock need not be held."""

        def require_wanted() -> None:
            if not wanted():
                raise Interrupted

        with ExitStack() as stack, suppress(Interrupted):
            while wanted():
                manifest = store.index.manifest()
                parts = self._chosen(manifest, choose)
                if not parts:
                    return
                with suppress(CorpusError):  # somebody else merges too, or it is not to be told
                    stack.enter_context(lock(self.folder))
                segment = merge([*parts.values()], exact=self._exact, wanted=wanted)
                entry = self._save(store, segment, require_wanted) if segment else None
                if segment is not None and entry is None:
                    return
                if not store.index.replace([*parts], entry, manifest):  # somebody else was faster
                    return
                self.tidy(store)

    def _chosen(
        self, manifest: Manifest, choose: Callable[[Held], list[int]]
    ) -> dict[int, tuple[Segment, Dead]]:
        """Those that become one, by number, with what is outdated; none if one is damaged."""
        self._close_others(manifest)
        found = {number: self._opened(entry) for number, entry in manifest.segments}
        parts = {n: (one, manifest.dead_in(n)) for n, one in found.items() if one}
        chosen = choose(passages_held(parts)) if len(parts) == len(found) else []
        return {number: parts[number] for number in chosen}

    def are_due(self, store: Store, choose: Callable[[Held], list[int]]) -> bool:
        """Whether there is something to be merged."""
        return bool(self._chosen(store.index.manifest(), choose))

    @property
    def merging(self) -> str:
        """Who merges now, in words; "" for nobody."""
        return merging_in(self.folder)

    def count(self, store: Store) -> int:
        """How many there are."""
        return len(store.index.manifest().segments)

    def waiting(self, store: Store) -> int:
        """How many segments wait to be merged in a pause."""
        entries = store.index.manifest().segments
        return len(due({number: (entry.passages, 0) for number, entry in entries}))

    def _sound(self, entry: SegmentEntry) -> Segment | None:
        sound = _seal(entry).fits(self._path(entry), whole=True)
        return self._opened(entry) if sound else None

    def _publish(self, store: Store, segment: Segment) -> None:
        entry = self._save(store, segment)
        if entry is not None:
            store.index.add(entry, segment.document_rows.tolist())
            self.tidy(store)

    def _save(
        self, store: Store, segment: Segment, step: Callable[[], None] = lambda: None
    ) -> SegmentEntry | None:
        """Write a segment; None where it cannot be, and each search builds what is missing."""
        generation = store.generation
        name = f"{generation}-{secrets.token_hex(6)}"
        draft, path = self.folder / f"{name}.draft", self.folder / f"{name}{SUFFIX}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            seal = segment.save(draft, step=step)
            draft.rename(path)
        except Interrupted:
            draft.unlink(missing_ok=True)
            raise
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            if self._notify is not None:
                self._notify(f"{self.folder}: cannot be saved ({error}); searches build it again")
            return None
        return SegmentEntry(
            name, **asdict(seal), documents=segment.documents, passages=segment.passages
        )

    def tidy(self, store: Store, *, grace: float | None = None) -> None:
        """Delete files that the manifest has not named for a while."""
        used = {f"{entry.name}{SUFFIX}" for _, entry in store.index.manifest().segments}
        now, grace = time.time(), GRACE if grace is None else grace
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            with suppress(OSError):
                if path.name in used or path.name.startswith("write."):  # who merges
                    continue
                if path.is_dir() or not path.name.endswith((SUFFIX, ".draft", ".dropped")):
                    _remove(path)  # of an earlier version
                elif path.name.endswith(SUFFIX):
                    mark = path.with_suffix(".dropped")
                    mark.touch(exist_ok=True) if not mark.exists() else None
                    if not grace or now - mark.stat().st_mtime >= grace:
                        path.unlink()
                        mark.unlink()
                elif path.name.endswith(".draft") and now - path.stat().st_mtime > GRACE:
                    path.unlink()


def _seal(entry: SegmentEntry) -> Seal:
    return Seal(entry.size, entry.checksum, entry.written)


def _in_none(store: Store, parts: Iterable[tuple[Segment, list[int]]]) -> set[int]:
    """Rows of the documents that no segment has as they are."""
    return {*_rows(store)} - {*_held(parts)}


def _held(parts: Iterable[tuple[Segment, list[int]]]) -> list[int]:
    """Rows of the documents that segments have as they are."""
    return [
        row
        for segment, outdated in parts
        for row in {*segment.document_rows.tolist()}.difference(outdated)
    ]


def _rows(store: Store) -> list[int]:
    return [row for (row,) in store.database.rows("SELECT row FROM documents ORDER BY row")]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def merging_in(folder: Path) -> str:
    """Who merges what a folder holds, in words; "" for nobody."""
    return holder(folder) if is_locked(folder) else ""
