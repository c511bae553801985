"""Uploaded files on disk until they are indexed, so that no kill of the server loses one.

Each has a record, `ID.json`, and until its turn comes its content, `ID.data`. The record is written
before the content gets its name: a content is never without a name to go by. Ids rise with time,
and hold a session: that of the server that received the file. As long as a server runs, it holds
the lock of its session, `SESSION.lock`; what it leaves behind is adopted by one other server, which
holds that lock from then on.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import filelock

from rag_app.chat.language.message_table import with_table, without_table

Stage = Literal[
    "exists", "waiting", "reading", "added", "updated", "unchanged", "duplicate", "cancelled",
    "failed",
]  # fmt: skip

_SUFFIXES = frozenset({".json", ".data", ".part", ".new", ".lock"})


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """An uploaded file on its way into the corpus."""

    id: str  # its id; "" before it has a record
    name: str  # as it was uploaded, or as it is to be called: a relative path
    # "exists" while somebody must say whether it replaces a document of its name; its stage, or its
    # result
    stage: Stage = "waiting"
    share: float = 0.0  # how much of it is read, 0 to 1
    note: str = ""  # what is wrong with it, and what to do
    # how long reading it will still take; None while that is not known
    seconds_left: float | None = None
    owner: str = ""  # login name of whoever uploaded it; "" where nobody logs in

    @property
    def title(self) -> str:
        """Its name within the files of its owner."""
        return self.name.split("/", 2)[2] if self.owner else self.name

    @property
    def over(self) -> bool:
        """Whether its stage is final."""
        return self.stage not in {"exists", "waiting", "reading"}


class UploadRecords:
    """The folder of records and contents, created with the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._session = secrets.token_hex(4)
        self._locks: dict[str, filelock.BaseFileLock] = {}  # of the sessions that are ours
        self._guard = threading.Lock()

    def new_content(self) -> Path:
        """Where to write the content of a new file; `keep` makes it an upload."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._take(self._session)
        id_ = f"{time.time_ns():020d}-{self._session}-{secrets.token_hex(4)}"
        return self.folder / f"{id_}.part"

    def keep(self, content: Path, name: str, stage: Stage, *, owner: str = "") -> UploadStatus:
        """Make a complete content an upload that survives from here on."""
        status = UploadStatus(content.stem, name, stage, owner=owner)
        self.save(status)
        content.replace(self.content(status.id))
        return status

    def content(self, id_: str) -> Path:
        """The content of an upload until it has its place among the documents' files."""
        return self.folder / f"{id_}.data"

    def save(self, status: UploadStatus) -> None:
        """Write a record atomically."""
        values = with_table({**asdict(status), "seconds_left": None})
        draft = self.folder / f"{status.id}.new"
        with draft.open("w", encoding="utf-8") as file:
            json.dump(values, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / f"{status.id}.json")

    def delete(self, id_: str) -> None:
        """Delete the record of an upload, and its content if that is still here."""
        for path in (self.content(id_), self.folder / f"{id_}.json"):
            path.unlink(missing_ok=True)

    def adopt(self) -> list[UploadStatus]:
        """The uploads that no running server has, in order of arrival: they are ours from here on.

        Contents that were not complete are deleted.
        """
        sessions = {_session(path) for path in self._files()} - {self._session, *self._locks}
        ours = {each for each in sessions if self._take(each)}
        records = list(self._read(ours))
        ids = {each.id for each in records}
        for path in list(self._files()):
            if path.suffix not in {".part", ".new"} or _session(path) not in ours:
                continue
            with suppress(OSError):
                if path.suffix == ".part" and path.stem in ids:
                    path.replace(self.content(path.stem))  # a kill came between record and name
                else:
                    path.unlink()
        for session in ours - {_session(Path(id_)) for id_ in ids}:
            self._give_up(session, delete=True)
        return records

    def names_of_others(self) -> set[str]:
        """The names of files that other servers are still to index."""
        with self._guard:
            ours = {self._session, *self._locks}
        others = {_session(path) for path in self._files()} - ours
        return {each.name for each in self._read(others) if not each.over}

    def close(self) -> None:
        """Leave all uploads to another server."""
        for session in list(self._locks):
            self._give_up(session)

    def _take(self, session: str) -> bool:
        """Hold the lock of a session; False where another server does."""
        with self._guard:
            if session in self._locks:
                return True
            path = self.folder / f"{session}.lock"
            lock = filelock.FileLock(path, timeout=0, thread_local=False)
            try:
                lock.acquire()
            except filelock.Timeout:
                return False
            self._locks[session] = lock
            return True

    def _give_up(self, session: str, *, delete: bool = False) -> None:
        with self._guard:
            lock = self._locks.pop(session, None)
            if lock is None:
                return
            if delete:
                with suppress(OSError):
                    Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def _files(self) -> Iterator[Path]:
        if self.folder.is_dir():
            yield from (each for each in self.folder.iterdir() if each.suffix in _SUFFIXES)

    def _read(self, sessions: Iterable[str]) -> Iterator[UploadStatus]:
        """The records of some sessions, in order of arrival."""
        for path in sorted(self.folder.glob("*.json")):
            if _session(path) not in sessions:
                continue
            try:
                values = without_table(json.loads(path.read_text(encoding="utf-8")))
                status = UploadStatus(**values)
            except (OSError, ValueError, TypeError, RecursionError):
                continue  # written by another version, or by hand
            if status.id == path.stem and _is_status(status):
                yield status


def _session(file: Path) -> str:
    """The session that a file of this folder belongs to."""
    if file.suffix == ".lock":
        return file.stem
    parts = file.stem.split("-")
    return parts[1] if len(parts) == 3 else "none"


def _is_status(status: UploadStatus) -> bool:
    """Whether the values that were read are of the right types."""
    return (
        isinstance(status.name, str)
        and status.stage in get_args(Stage)
        and isinstance(status.note, str)
        and isinstance(status.share, int | float)
        and isinstance(status.owner, str)
        and (not status.owner or status.name.count("/") > 1)
    )
