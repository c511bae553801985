"""Watched folders: documents are added, replaced and removed as files change.

The system says that something has changed (by watchfiles), and a walk over the folder says what.
So nothing is lost when messages are: at the start, and whenever a folder comes back, all of it is
compared with the corpus.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic, process_time, sleep
from typing import TYPE_CHECKING, Literal

from indexing.errors import CollectionNotFound, CorpusLocked, CorpusReplaced, InvalidRequest
from indexing.filter import Filter
from indexing.store.collections import DEFAULT
from indexing.walk import Failure, is_folder, resolved, shown
from rag_app.corpus.watching.changing_files import ChangingFiles, files_under, real, state_of

if TYPE_CHECKING:
    from generator.answer import Citation
    from indexing.index_report import IndexReport
    from indexing.store.view import DocumentEntry
    from rag_app.corpus.corpus import Corpus
    from rag_app.corpus.watching.standing_questions import StandingQuestions

SETTLE = 2.0  # seconds without a change after which a file is complete
TICK = 250  # milliseconds between two looks at what is waiting
TURN = 5.0  # seconds in the queue of those who write, between two looks at what has changed

Kind = Literal[
    "watching", "added", "updated", "grown", "moved", "removed", "skipped", "failed", "unread",
    "waiting", "gone", "back", "told",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FolderEvent:
    """What a watch did or met."""

    # "watching" a folder; a document "added", "updated", "grown" at its end while its file is
    # written, "moved" or "removed"; a file "skipped" as the copy of another, "failed", or with a
    # part "unread"; "waiting" for another process that writes; a folder "gone" or "back"; a place
    # that is "told" for a standing question
    kind: Kind
    path: str  # the file or folder
    document: str = ""  # id of the document; "" where it concerns none
    title: str = ""
    reason: str = ""  # why, for what was not read
    remedy: str = ""  # what to do about it
    question: str = ""  # the standing question
    citation: Citation | None = None  # the new place that concerns it


@dataclass(slots=True)
class FolderWatch:
    """Keeps a collection as some folders are.

    A folder that is gone keeps its documents until it is back, for it may lie on a drive that is
    away; what is missing from it then is removed.

    A transcript that is being written is read line by line: at once, as long as nothing but its end
    changes. Anything else about it waits until the file is complete.
    """

    corpus: Corpus  # what is kept
    folders: Sequence[Path]  # what is watched, with all folders in them
    collection: str = DEFAULT  # where documents go
    settle: float = SETTLE  # seconds without a change after which a file is complete
    # seconds between two looks at all files, where the system does not say what changes, as on
    # network drives; None to be told
    poll: float | None = None
    # standing questions, which are told of each new place once (`StandingQuestions`)
    tell: Sequence[str] = ()
    _mounts: dict[Path, Path] = field(default_factory=dict)
    _changes: ChangingFiles = field(init=False)
    _standing: StandingQuestions = field(init=False)
    _reported: dict[Failure, object] = field(default_factory=dict)  # the state of files that failed
    _waits: bool = False

    def __post_init__(self) -> None:
        roots = [resolved(Path(folder)) for folder in self.folders]
        for root in roots:
            if isinstance(root, Failure):
                raise InvalidRequest(str(root))
            if not is_folder(root):
                raise InvalidRequest(f"{shown(root)}: is no folder; name the folder that it is in")
        self.folders = tuple(dict.fromkeys(root for root in roots if isinstance(root, Path)))
        self._mounts = {root: _mount(root) for root in self.folders}
        self._changes = ChangingFiles(self.settle)
        self._standing = self.corpus.standing(*self.tell, collection=self.collection)

    def events(self, *, stop: Event | None = None) -> Iterator[FolderEvent]:
        """What happens, as it happens; without an end unless `stop` is set.

        Raises:
            EncoderMismatch: The corpus was encoded in another way.
            CorpusError: It cannot be written to.
        """
        stop = stop or Event()
        here: tuple[Path, ...] = ()
        for folder in self.folders:
            yield FolderEvent("watching", shown(folder))
        yield from self._told()
        before: set[Path] = set(self.folders)
        while not stop.is_set():
            here = tuple(folder for folder in self.folders if self._is_here(folder))
            for folder in self.folders:
                if (folder in here) is not (folder in before):
                    yield FolderEvent("back" if folder in here else "gone", shown(folder))
            before = set(here)
            if here:
                yield from self._while_here(here, stop)
            else:
                sleep(TICK / 1000)

    def _is_here(self, folder: Path) -> bool:
        """Whether it is there, and not the empty place of a drive that is away."""
        return is_folder(folder) and _mount(folder) == self._mounts[folder]

    def _while_here(self, here: Sequence[Path], stop: Event) -> Iterator[FolderEvent]:
        """Follow the folders until one of them goes, comes back, or is another one."""
        from watchfiles._rust_notify import WatchfilesRustInternalError

        identities = [_identity(folder) for folder in self.folders]
        try:
            messages = self._messages(here, stop)
            with closing(messages):
                all_of_it = True
                for batch in messages:  # from the first on, nothing that changes is missed
                    if [_identity(folder) for folder in self.folders] != identities:
                        return
                    self._note(batch)
                    try:
                        changed = False
                        for event in self._apply(here, all_of_it=all_of_it):
                            changed = True
                            yield event
                        if changed:
                            self.corpus.merge_in_background()
                        yield from self._told()
                        all_of_it = False
                    except CorpusLocked:
                        yield from self._wait()
                    except CorpusReplaced:  # by a backup, or deleted: what is there now may differ
                        all_of_it = True
        except FileNotFoundError:  # it went in between
            return
        except (OSError, WatchfilesRustInternalError) as error:
            raise InvalidRequest(
                f"the system does not tell what changes in these folders ({error}); "
                "look at them every ten seconds with --poll 10"
            ) from error

    def _messages(self, here: Sequence[Path], stop: Event) -> Generator[Iterable[Path]]:
        """Paths that have changed, in batches that may be empty; at least one batch each tick."""
        from watchfiles import watch

        if self.poll is not None:
            yield from _looks(here, every=self.poll, stop=stop)
            return
        messages = watch(
            *here,
            watch_filter=None,
            debounce=TICK,
            rust_timeout=TICK,
            yield_on_timeout=True,
            stop_event=stop,
            ignore_permission_denied=True,
        )
        with closing(messages):
            for batch in messages:
                yield [Path(path) for _, path in batch]

    def _note(self, paths: Iterable[Path]) -> None:
        """Remember what has changed; of a folder, all files in it."""
        for path in paths:
            if self._is_ours(path):
                self._changes.note(path)

    def _is_ours(self, path: Path) -> bool:
        """Whether it is neither hidden nor the corpus itself."""
        if path.is_relative_to(self.corpus.folder):
            return False
        return any(
            path.is_relative_to(root)
            and not any(name.startswith(".") for name in path.relative_to(root).parts)
            for root in self.folders
        )

    def _apply(self, here: Sequence[Path], *, all_of_it: bool) -> Iterator[FolderEvent]:
        """Bring the collection up to date with what is complete, and with what grows."""
        ready = set() if all_of_it else self._changes.complete()
        growing = set() if all_of_it else self._changes.growing() - ready
        if not ready and not growing and not all_of_it:
            return
        gone = any(not os.path.lexists(path) for path in ready)
        early = [*growing, *real(growing)]
        among = None if gone or all_of_it else [*ready, *real(ready), *early]
        started = process_time()
        with self.corpus.waiting(TURN if self._waits else 0):  # once it has been told
            report = self.corpus.add(here, collection=self.collection, among=among, growing=early)
        self._waits, seconds = False, process_time() - started
        events = list(self._problems(report, here, growing={shown(path) for path in early}))
        grown = [Path(each.path) for each in events if each.kind in {"added", "grown"}]
        self._changes.were_read(ready, growing, grown, seconds=seconds)
        yield from events
        if gone or all_of_it:
            yield from self._remove_missing(here)

    def _told(self) -> Iterator[FolderEvent]:
        """The new places that concern standing questions."""
        for each in self._standing.new():
            one = each.citation
            path, question = shown(one.path), each.question
            yield FolderEvent(
                "told", path, one.document, one.title, question=question, citation=one
            )

    def _wait(self) -> Iterator[FolderEvent]:
        if not self._waits:
            self._waits = True
            yield FolderEvent("waiting", shown(self.corpus.folder), reason="another process writes")

    def _problems(
        self, report: IndexReport, here: Sequence[Path], *, growing: Collection[str]
    ) -> Iterator[FolderEvent]:
        """What a run did; a failure again only when its file has changed."""
        if report.added or report.updated or report.moved or report.removed:
            known = {each.id: each for each in self._entries()}
            changed: dict[Kind, tuple[str, ...]]
            changed = {"added": report.added, "updated": report.updated, "moved": report.moved}
            for kind, ids in changed.items():
                for entry in (known[id_] for id_ in ids if id_ in known):
                    path = shown(entry.path)
                    grown = kind == "updated" and path in growing
                    yield FolderEvent("grown" if grown else kind, path, entry.id, entry.title)
            for id_ in report.removed:
                yield FolderEvent("removed", "", id_)
        roots = {shown(root) for root in here}
        told: dict[Kind, tuple[Failure, ...]]
        told = {"skipped": report.duplicates, "failed": report.failures, "unread": report.unread}
        for what, failures in told.items():
            for each in failures:
                state = state_of(Path(each.path))
                if each.path not in roots and self._reported.get(each) != state:
                    self._reported[each] = state
                    yield FolderEvent(what, each.path, reason=each.reason, remedy=each.remedy)

    def _remove_missing(self, here: Sequence[Path]) -> Iterator[FolderEvent]:
        """Take out of the collection what is no longer in the folders."""
        try:
            missing = [
                each
                for each in self.corpus.missing(where=Filter(collections=(self.collection,)))
                if any(Path(each.path).is_relative_to(root) for root in here)
            ]
        except CollectionNotFound:  # nothing was ever added
            return
        if missing and all(map(self._is_here, here)):
            self.corpus.remove([each.id for each in missing], collection=self.collection)
            for each in missing:
                yield FolderEvent("removed", shown(each.path), each.id, each.title)

    def _entries(self) -> list[DocumentEntry]:
        return self.corpus.documents(where=Filter(collections=(self.collection,)))


def _looks(folders: Sequence[Path], *, every: float, stop: Event) -> Generator[list[Path]]:
    """Files that differ from one look at all of them to the next, `every` so many seconds.

    watchfiles polls too, but compares times of whole seconds: of two changes within a second it
    misses the second.
    """

    def look() -> dict[Path, object]:
        return {path: state_of(path) for folder in folders for path in files_under(folder)}

    before, looked = look(), monotonic()
    yield []
    while not stop.wait(min(every, TICK / 1000)):
        changed: list[Path] = []
        if monotonic() - looked >= every:
            now, looked = look(), monotonic()
            changed = [path for path in {**before, **now} if before.get(path) != now.get(path)]
            before = now
        yield changed


def _identity(folder: Path) -> object:
    try:
        about = folder.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _mount(folder: Path) -> Path:
    """The folder at which the drive begins that a path is on."""
    return next((each for each in (folder, *folder.parents) if os.path.ismount(each)), folder)
