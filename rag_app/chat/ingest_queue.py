"""Indexing of uploaded files: one thread, file by file, with a status of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from indexing.errors import CorpusLocked, RagAppError

if TYPE_CHECKING:
    from indexing.indexer import IndexReport, Progress
    from rag_app.corpus.corpus import Corpus

Stage = Literal["waiting", "reading", "added", "updated", "unchanged", "duplicate", "failed"]

MAX_LISTED = 200  # latest files
LOCK_TIMEOUT = 600  # seconds to wait for another process that writes to the corpus


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """An uploaded file on its way into the corpus.

    Attributes:
        name: As it was uploaded.
        stage: Its stage, or its result.
        share: How much of it is read, 0 to 1.
        note: What is wrong with it, and what to do.
    """

    name: str
    stage: Stage = "waiting"
    share: float = 0.0
    note: str = ""

    @property
    def over(self) -> bool:
        """Whether its stage is final."""
        return self.stage not in {"waiting", "reading"}


class IngestQueue:
    """Indexes files one batch after another while questions go on.

    Args:
        corpus: The corpus to add them to.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._uploads: dict[Path, UploadStatus] = {}
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    @property
    def uploads(self) -> tuple[UploadStatus, ...]:
        """The latest files, in order of arrival."""
        with self._lock:
            return tuple(self._uploads.values())[-MAX_LISTED:]

    @property
    def busy(self) -> bool:
        """Whether any file is not indexed yet."""
        with self._lock:
            return any(not each.over for each in self._uploads.values())

    def add(self, files: Sequence[tuple[str, Path]]) -> None:
        """Queue files; returns at once."""
        with self._lock:
            for name, path in files:
                self._uploads.pop(path, None)  # a file uploaded again goes to the end
                self._uploads[path] = UploadStatus(name)
            if self._worker is None and files:
                self._worker = threading.Thread(target=self._work, name="ingest", daemon=True)
                self._worker.start()

    def clear(self) -> None:
        """Remove files from the list whose stage is final."""
        with self._lock:
            self._uploads = {path: each for path, each in self._uploads.items() if not each.over}

    def _work(self) -> None:
        while batch := self._next():
            try:
                self._report(batch, self._index(batch))
            except RagAppError as error:
                self._fail(batch, str(error))
            except Exception as error:
                self._fail(batch, f"failed unexpectedly ({type(error).__name__}: {error})")

    def _next(self) -> list[Path]:
        """The files that wait; if there are none, the thread ends and says so."""
        with self._lock:
            batch = [path for path, each in self._uploads.items() if each.stage == "waiting"]
            if not batch:
                self._worker = None
            return batch

    def _index(self, batch: list[Path]) -> IndexReport:
        """Index a batch; waits while another process writes."""
        deadline = time.monotonic() + LOCK_TIMEOUT
        progress = _FileProgress(self)
        while True:
            try:
                return self._corpus.add(batch, progress=progress)
            except CorpusLocked:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)

    def _report(self, batch: list[Path], report: IndexReport) -> None:
        """Set the stage of each file from the report."""
        paths = {entry.id: entry.path for entry in self._corpus.documents()}
        added = {paths.get(id_) for id_ in report.added}
        updated = {paths.get(id_) for id_ in (*report.updated, *report.moved)}
        for path in batch:
            text = path.as_posix()
            failures = [each for each in report.failures if _concerns(each.path, text)]
            duplicates = [each for each in report.duplicates if _concerns(each.path, text)]
            unread = [each for each in report.unread if each.path == text]
            remarks = (*failures, *duplicates, *unread)
            notes = "; ".join(f"{each.reason}; {each.remedy}" for each in remarks)
            stage: Stage = "unchanged"
            if text in added:
                stage = "added"
            elif text in updated:
                stage = "updated"
            elif failures:
                stage = "failed"
            elif duplicates:
                stage = "duplicate"
            self.advance(path, stage, 1.0, notes.replace(f"{path.parent.as_posix()}/", ""))

    def _fail(self, batch: list[Path], note: str) -> None:
        for path in batch:
            self.advance(path, "failed", 0.0, note)

    def advance(self, path: Path, stage: Stage, share: float, note: str = "") -> None:
        """Set the stage of a file, and how much of it is read."""
        with self._lock:
            status = self._uploads.get(path)
            if status is not None:
                self._uploads[path] = replace(status, stage=stage, share=share, note=note)


class _FileProgress:
    """Turns the progress of a batch in bytes into that of its current file."""

    def __init__(self, queue: IngestQueue) -> None:
        self._queue = queue
        self._path, self._done, self._before = "", 0.0, 0.0

    def __call__(self, step: Progress) -> None:
        if step.path != self._path:
            self._path, self._before = step.path, self._done
        self._done = step.done
        path = Path(step.path)
        try:
            size = path.stat().st_size
        except OSError:
            return
        share = min(max((step.done - self._before) / max(size, 1), 0.0), 1.0)
        self._queue.advance(path, "reading", share)


def _concerns(name: str, path: str) -> bool:
    """Whether a name in a report means a file, or a part of it."""
    return name == path or name.startswith(f"{path} (")
