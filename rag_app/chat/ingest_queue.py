"""The indexing of what was handed in: one thread, file by file, with a report of each."""

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

SHOWN = 200  # of the latest files
PATIENCE = 600  # seconds to wait for another process that writes to the corpus


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file on its way into the corpus.

    Attributes:
        name: As it was handed in.
        stage: How far it has come.
        share: How much of it is read, 0 to 1.
        note: What is wrong with it, and what to do.
    """

    name: str
    stage: Stage = "waiting"
    share: float = 0.0
    note: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.stage not in {"waiting", "reading"}


class Intake:
    """Indexes files one batch after another while questions go on.

    Args:
        corpus: Where they go.
        max_bytes: Of one file.
    """

    def __init__(self, corpus: Corpus, *, max_bytes: int) -> None:
        self._corpus, self._max_bytes = corpus, max_bytes
        self._arrivals: dict[Path, Arrival] = {}
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    @property
    def arrivals(self) -> tuple[Arrival, ...]:
        """The latest files, in the order they came."""
        with self._lock:
            return tuple(self._arrivals.values())[-SHOWN:]

    @property
    def busy(self) -> bool:
        """Whether anything is on its way."""
        with self._lock:
            return any(not each.over for each in self._arrivals.values())

    def add(self, files: Sequence[tuple[str, Path]]) -> None:
        """Take files in; returns at once."""
        with self._lock:
            for name, path in files:
                self._arrivals.pop(path, None)  # a name handed in again goes to the end
                self._arrivals[path] = Arrival(name)
            if self._worker is None and files:
                self._worker = threading.Thread(target=self._work, name="intake", daemon=True)
                self._worker.start()

    def refused(self, name: str, note: str) -> None:
        """Show a file that was not even received."""
        with self._lock:
            self._arrivals[Path("refused") / name] = Arrival(name, "failed", note=note)

    def clear(self) -> None:
        """Forget what is over."""
        with self._lock:
            self._arrivals = {path: each for path, each in self._arrivals.items() if not each.over}

    def _work(self) -> None:
        while batch := self._next():
            try:
                self._settle(batch, self._indexed(batch))
            except RagAppError as error:
                self._fail(batch, str(error))
            except Exception as error:
                self._fail(batch, f"failed unexpectedly ({type(error).__name__}: {error})")

    def _next(self) -> list[Path]:
        """What waits; the thread ends, and says so, when nothing does."""
        with self._lock:
            batch = [path for path, each in self._arrivals.items() if each.stage == "waiting"]
            if not batch:
                self._worker = None
            return batch

    def _indexed(self, batch: list[Path]) -> IndexReport:
        """The report of a batch; waits while another process writes."""
        until = time.monotonic() + PATIENCE
        progress = _Shares(self)
        while True:
            try:
                return self._corpus.add(batch, progress=progress, max_bytes=self._max_bytes)
            except CorpusLocked:
                if time.monotonic() > until:
                    raise
                time.sleep(1)

    def _settle(self, batch: list[Path], report: IndexReport) -> None:
        """Say of each file what the report says of it."""
        paths = {entry.id: entry.path for entry in self._corpus.documents()}
        added = {paths.get(id_) for id_ in report.added}
        updated = {paths.get(id_) for id_ in (*report.updated, *report.moved)}
        for path in batch:
            text = path.as_posix()
            failed = [each for each in report.failures if _about(each.path, text)]
            copies = [each for each in report.duplicates if _about(each.path, text)]
            unread = [each for each in report.unread if each.path == text]
            said = (*failed, *copies, *unread)
            notes = "; ".join(f"{each.reason}; {each.remedy}" for each in said)
            stage: Stage = "unchanged"
            if text in added:
                stage = "added"
            elif text in updated:
                stage = "updated"
            elif failed:
                stage = "failed"
            elif copies:
                stage = "duplicate"
            self.advance(path, stage, 1.0, notes.replace(f"{path.parent.as_posix()}/", ""))

    def _fail(self, batch: list[Path], note: str) -> None:
        for path in batch:
            self.advance(path, "failed", 0.0, note)

    def advance(self, path: Path, stage: Stage, share: float, note: str = "") -> None:
        """How far a file has come."""
        with self._lock:
            arrival = self._arrivals.get(path)
            if arrival is not None:
                self._arrivals[path] = replace(arrival, stage=stage, share=share, note=note)


class _Shares:
    """The progress of a batch in bytes, as the share of the file in hand that is read."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
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
        self._intake.advance(path, "reading", share)


def _about(said: str, path: str) -> bool:
    """Whether a report's path means a file, or a part of it."""
    return said == path or said.startswith(f"{path} (")
