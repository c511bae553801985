"""Indexing of uploaded files: one thread, a few files at a time, with a status of each.

A recording is not indexed: when all else is, it is looked whether its transcript is there.

What waits is on disk (`upload_records`): when a server was killed, the next goes on with it, or
another of the same corpus that runs already.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from indexing.error_log import unexpected
from indexing.errors import CollectionNotFound, CorpusError, CorpusNotFound, RagAppError
from indexing.filter import OWNER, Filter
from indexing.index_report import IndexReport
from indexing.message import N_
from indexing.models.graphs.cores import Cores
from rag_app.chat.collection_list import CollectionList
from rag_app.chat.queues.batch import choose
from rag_app.chat.queues.file_outcome import FileProgress, outcome, recording_outcome
from rag_app.chat.upload_records import Stage, UploadStatus
from rag_app.chat.uploads import Received, Uploads
from rag_app.chat.viewer.recording import belongs, is_recording, transcripts
from rag_app.corpus.access import SharedCorpus

MAX_LISTED = 200  # latest files
ADOPT_SECONDS = 10.0  # between looks at what other servers have left
LOCK_TIMEOUT = 600  # seconds to wait for another process that writes to the corpus
DONE: frozenset[Stage] = frozenset({"added", "updated", "unchanged", "duplicate"})
UNUSED: frozenset[Stage] = frozenset({"failed", "cancelled", "duplicate"})


class _Cancelled(Exception):
    """The file in hand was cancelled."""


class IngestQueue:
    """Indexes uploaded files one batch after another while questions go on.

    Each goes to the collection of whoever uploaded it. A person is a login name; None, where nobody
    logs in, has all files.
    """

    def __init__(self, corpus: SharedCorpus, uploads: Uploads, cores: Cores | None = None) -> None:
        self._corpus, self._files = corpus, uploads
        self._cores = cores or Cores()
        self._collections = CollectionList(corpus)
        self._records = uploads.records
        self._uploads: dict[str, UploadStatus] = {}  # replaced as a whole: pages read it at once
        self._arriving: list[str] = []  # names of files that are being saved
        self._lock = threading.Lock()  # of both; never held over the disk
        self._writers: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._files_lock = threading.Lock()  # of whoever places or deletes one; no upload waits
        self._worker: threading.Thread | None = None
        self._closed = threading.Event()

    @property
    def uploads(self) -> tuple[UploadStatus, ...]:
        """The latest files, in order of arrival."""
        return self.of(None)

    def of(self, person: str | None) -> tuple[UploadStatus, ...]:
        """The latest files of a person, and those from before there were logins."""
        theirs = [each for each in self._uploads.values() if _is_theirs(each, person)]
        return tuple(theirs[-MAX_LISTED:])

    def is_busy(self, person: str | None = None) -> bool:
        """Whether any file of a person is going to be indexed without further ado."""
        return any(
            each.stage in {"waiting", "reading"} and _is_theirs(each, person)
            for each in self._uploads.values()
        )

    def resume(self) -> None:
        """Go on with what other servers left, and from now on with what they will leave."""
        self._adopt()
        threading.Thread(target=self._adopt_all, name="adopt", daemon=True).start()

    def close(self) -> None:
        """Begin no further file, and leave those that wait to another server."""
        with self._lock:
            self._closed.set()
            if self._worker is None:
                self._records.close()

    def _adopt_all(self) -> None:
        while not self._closed.wait(ADOPT_SECONDS):
            with suppress(OSError):
                self._adopt()

    def _adopt(self) -> None:
        """Take over the files of servers that run no more, in the order in which they came."""
        if self._closed.is_set():
            return
        for each in self._records.adopt():
            if each.stage in DONE:  # nobody needs to be told again
                self._records.delete(each.id)
                continue
            again = replace(each, stage="waiting", share=0.0)
            with self._lock:
                self._put(again if each.stage == "reading" else each)
        self._work_on()
        if self._closed.is_set():  # meanwhile
            self.close()

    def add(self, received: Received) -> UploadStatus:
        """Queue a file; returns at once.

        One whose name another document has, with other content, waits until somebody says which
        of the two it is to be: `replace` or `keep_both`.

        Raises:
            CorpusError: It cannot be saved.
        """
        changes = self._changes_document(received)
        others = self._records.names_of_others()
        with self._lock:
            open_names = {each.name for each in self._uploads.values() if not each.over}
            taken = received.name in {*open_names, *self._arriving, *others}
            stage: Stage = "exists" if changes or taken else "waiting"
            self._arriving.append(received.name)
        try:
            status = self._records.keep(
                received.content, received.name, stage, owner=received.owner
            )
            with self._lock:
                self._put(status)
        except OSError as error:
            received.content.unlink(missing_ok=True)
            raise CorpusError(
                N_(
                    "%(file)s: cannot be saved (%(error)s); make room",
                    file=received.name,
                    error=error.strerror or error,
                )
            ) from error
        finally:
            with self._lock:
                self._arriving.remove(received.name)
        self._forget_oldest()
        self._work_on()
        return status

    def replace(self, id_: str, person: str | None = None) -> None:
        """Let a file take the place of the document of its name."""
        self._move_on(id_, {"exists"}, person)

    def keep_both(self, id_: str, person: str | None = None) -> None:
        """Give a file another name, so that the document of its name stays."""
        others = self._records.names_of_others()
        with self._lock:
            status = self._get(id_, person)
            if status is None or status.stage != "exists":
                return
            used = {*(each.name for each in self._uploads.values()), *self._arriving, *others}
            self._put(replace(status, name=self._files.free_name(status.name, used)))
        self._save(id_)  # before it is placed: after a kill it would be sought by its old name
        self._move_on(id_, {"exists"}, person)

    def retry(self, id_: str, person: str | None = None) -> None:
        """Index a file that failed once more."""
        self._move_on(id_, {"failed", "cancelled"}, person)

    def cancel(self, id_: str, person: str | None = None) -> None:
        """Index a file no more that waits, asks or is being read."""
        with self._lock:
            status = self._get(id_, person)
            if status is None or status.over:
                return
            self._put(replace(status, stage="cancelled", share=0.0, seconds_left=None))
        self._save(id_)

    def clear(self, person: str | None = None) -> None:
        """Remove files from the list whose stage is final, and what was kept to try them again."""
        indexed = {owner: self._indexed(owner) for owner in {each.owner for each in self.uploads}}
        over = [each for each in self._uploads.values() if each.over]
        for status in [each for each in over if _is_theirs(each, person)]:
            self._forget(status)
            path = self._files.folder / status.name
            with self._files_lock:
                is_open = any(each.name == status.name for each in self._uploads.values())
                used = is_open or belongs(path, indexed.get(status.owner, {path.as_posix()}))
                if status.stage in UNUSED and not used:
                    self._files.delete(path.as_posix())

    def _changes_document(self, received: Received) -> bool:
        """Whether a document has a file of this name, with other content."""
        path = self._files.path(received.name)
        return (
            path is not None
            and belongs(path, self._indexed(received.owner))
            and not self._files.same(received.content, received.name)
        )

    def _indexed(self, owner: str) -> set[str]:
        """The paths of the documents in the collection that uploads of somebody go to.

        Not to be called with the lock, which indexing takes too.
        """
        collection = self._collections.for_uploads(owner or None)
        return set(self._paths(collection).values()) if collection else set()

    def _paths(self, collection: str) -> dict[str, str]:
        """Where the documents of a collection lie, by id."""
        try:
            entries = self._corpus.seen_by(OWNER).documents(where=Filter(collections=(collection,)))
        except (CorpusNotFound, CollectionNotFound):
            return {}
        return {entry.id: entry.path for entry in entries}

    def _get(self, id_: str, person: str | None) -> UploadStatus | None:
        """A file by its id, if it is a person's."""
        status = self._uploads.get(id_)
        return status if status is not None and _is_theirs(status, person) else None

    def _put(self, status: UploadStatus) -> None:
        self._uploads = {**self._uploads, status.id: status}

    def _forget(self, status: UploadStatus) -> None:
        with self._lock:
            self._uploads = {key: each for key, each in self._uploads.items() if key != status.id}
        self._save(status.id)

    def _forget_oldest(self) -> None:
        """Keep no more finished files than are listed."""
        finished = [each for each in self._uploads.values() if each.over]
        for status in finished[: max(len(self._uploads) - MAX_LISTED, 0)]:
            self._forget(status)

    def _move_on(self, id_: str, stages: set[Stage], person: str | None) -> None:
        """Let a file at one of these stages wait for its turn, behind all others."""
        with self._lock:
            status = self._get(id_, person)
            if status is None or status.stage not in stages:
                return
            others = {key: each for key, each in self._uploads.items() if key != id_}
            again = replace(status, stage="waiting", share=0.0, note="")
            self._uploads = {**others, id_: again}
        self._save(id_)
        self._work_on()

    def _work_on(self) -> None:
        """Start the thread where there is work and no thread."""
        with self._lock:
            if self._worker is None and self.is_busy():
                worker = threading.Thread(target=self._work, name="ingest", daemon=True)
                worker.start()
                self._worker = worker

    def _work(self) -> None:
        while batch := self._next():
            try:
                self._index_batch(batch)
            except RagAppError as error:
                self._fail(batch, str(error))
            except Exception as error:
                self._fail(batch, unexpected(error))
        if not self._closed.is_set():
            self._corpus.merge_in_background()

    def _next(self) -> dict[Path, str]:
        """The ids of the next files, by path; if there are none, the thread ends and says so."""
        while True:
            waiting = [each for each in self._uploads.values() if each.stage == "waiting"]
            chosen = {} if self._closed.is_set() else choose(waiting, self._records.content)
            if batch := self._place(chosen):
                return batch
            with self._lock:
                closed = self._closed.is_set()
                if not closed and any(each.stage == "waiting" for each in self._uploads.values()):
                    continue
                if closed:
                    self._records.close()
                self._worker = None
                return {}

    def _place(self, chosen: dict[str, UploadStatus]) -> dict[Path, str]:
        """Give files their places; the ids of those that have one, by path."""
        batch: dict[Path, str] = {}
        for status in chosen.values():
            try:
                with self._files_lock:
                    batch[self._files.place(status)] = status.id
            except RagAppError as error:
                self.advance(status.id, "failed", 0.0, str(error))
        return batch

    def _index_batch(self, batch: dict[Path, str]) -> None:
        with suppress(_Cancelled):
            if is_recording(first := next(iter(batch))):
                self._place_recording(first, batch[first])
                return
            self._report(batch, *self._index(batch))
            self._try_recordings_again()
        for id_ in batch.values():
            status = self._uploads.get(id_)
            if status is not None and status.stage == "reading":  # beside one that was cancelled
                self.advance(id_, "waiting", 0.0)

    def _index(self, batch: dict[Path, str]) -> tuple[str, IndexReport]:
        """Index a batch, once nobody else writes; its collection, and what came of it."""
        uploads = self._uploads
        owner = next((uploads[id_].owner for id_ in batch.values() if id_ in uploads), "") or None
        progress = FileProgress(self.advance, batch)
        with self._corpus.waiting(LOCK_TIMEOUT):
            collection = self._collections.make_for_uploads(owner)
            with self._cores.share():
                report = self._corpus.add(
                    list(batch), progress=progress, collection=collection, owner=owner
                )
        return collection, report

    def _report(self, batch: dict[Path, str], collection: str, report: IndexReport) -> None:
        """Set the stage of each file from the report."""
        paths = self._paths(collection)
        added = {paths.get(id_) for id_ in report.added}
        updated = {paths.get(id_) for id_ in (*report.updated, *report.moved)}
        for path, id_ in batch.items():
            stage, note = outcome(report, path, added=added, updated=updated)
            self.advance(id_, stage, 1.0, note)

    def _place_recording(self, path: Path, id_: str) -> None:
        """Say which transcript an uploaded recording belongs to, or that there is none."""
        status = self._uploads.get(id_)
        owner = "" if status is None else status.owner
        stage, note = recording_outcome(path, self._transcripts(path, owner))
        self.advance(id_, stage, 1.0, note)

    def _transcripts(self, path: Path, owner: str) -> list[Path]:
        """The transcripts of an uploaded recording, which whoever uploaded it has uploaded too."""
        collection = self._collections.for_uploads(owner or None)
        paths = self._paths(collection) if collection else {}
        beside = set(transcripts(path, paths.values()))
        return [
            Path(each)
            for id_, each in paths.items()
            if each in beside and self._corpus.seen_by(OWNER).document(id_).utterances
        ]

    def _try_recordings_again(self) -> None:
        """Let recordings that had no transcript wait until all else is indexed."""
        for each in self._uploads.values():
            if each.stage == "failed" and is_recording(each.name):
                self._move_on(each.id, {"failed"}, None)

    def _fail(self, batch: dict[Path, str], note: str) -> None:
        for id_ in batch.values():
            self.advance(id_, "failed", 0.0, note)

    def advance(
        self,
        id_: str,
        stage: Stage,
        share: float,
        note: str = "",
        *,
        seconds_left: float | None = None,
    ) -> None:
        """Set the stage of a file, how much of it is read, and how long the rest takes.

        Raises:
            _Cancelled: It is to be read no more.
        """
        with self._lock:
            status = self._uploads.get(id_)
            if status is None:
                return
            if status.stage == "cancelled" and stage == "reading":
                raise _Cancelled
            values = replace(status, stage=stage, share=share, note=note, seconds_left=seconds_left)
            self._put(values)
        if stage != status.stage:
            self._save(id_)

    def _save(self, id_: str) -> None:
        """Bring the record of a file up to its latest stage, or delete it with what is no more."""
        with self._lock:
            writer = self._writers.setdefault(id_, threading.Lock())
        with writer, suppress(OSError):  # a full disk; after a kill it would be read once more
            if status := self._uploads.get(id_):
                self._records.save(status)
            else:
                self._records.delete(id_)


def _is_theirs(status: UploadStatus, person: str | None) -> bool:
    return person is None or status.owner in {"", person}
