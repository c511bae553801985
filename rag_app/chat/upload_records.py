"""Uploaded files on disk until they are indexed, so that no kill of the server loses one.

Each has a record, `ID.json`, and until its turn comes its content, `ID.data`. The record is written
before the content gets its name: a content is never without a name to go by. Ids rise with time.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

Stage = Literal[
    "exists",
    "waiting",
    "reading",
    "added",
    "updated",
    "unchanged",
    "duplicate",
    "cancelled",
    "failed",
]

ABANDONED = 24 * 3600  # seconds after which a content that nobody goes on writing is deleted


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """An uploaded file on its way into the corpus.

    Attributes:
        id: Its id; "" before it has a record.
        name: As it was uploaded, or as it is to be called: a relative path.
        stage: "exists" while somebody must say whether it replaces a document of its name; its
            stage, or its result.
        share: How much of it is read, 0 to 1.
        note: What is wrong with it, and what to do.
        seconds_left: How long reading it will still take; None while that is not known.
    """

    id: str
    name: str
    stage: Stage = "waiting"
    share: float = 0.0
    note: str = ""
    seconds_left: float | None = None

    @property
    def over(self) -> bool:
        """Whether its stage is final."""
        return self.stage not in {"exists", "waiting", "reading"}


class UploadRecords:
    """The folder of records and contents.

    Args:
        folder: Created with the first record.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def new_content(self) -> Path:
        """Where to write the content of a new file; `keep` makes it an upload."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{time.time_ns():020d}-{secrets.token_hex(4)}.part"

    def keep(self, content: Path, name: str, stage: Stage) -> UploadStatus:
        """Make a complete content an upload that survives from here on."""
        status = UploadStatus(content.stem, name, stage)
        self.save(status)
        content.replace(self.content(status.id))
        return status

    def content(self, id_: str) -> Path:
        """The content of an upload until it has its place among the documents' files."""
        return self.folder / f"{id_}.data"

    def save(self, status: UploadStatus) -> None:
        """Write a record atomically."""
        values = {**asdict(status), "seconds_left": None}
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

    def all(self) -> list[UploadStatus]:
        """Every upload with a record, in order of arrival; contents left behind are deleted."""
        found = list(self._read())
        ids = {each.id for each in found}
        for part in list(self.folder.glob("*.part")):
            with suppress(OSError):
                if part.stem in ids:  # complete: a kill came between record and name
                    part.replace(self.content(part.stem))
                elif time.time() - part.stat().st_mtime > ABANDONED:
                    part.unlink()
        return found

    def _read(self) -> Iterator[UploadStatus]:
        for path in sorted(self.folder.glob("*.json")):
            try:
                values = json.loads(path.read_text(encoding="utf-8"))
                status = UploadStatus(**values)
            except (OSError, ValueError, TypeError, RecursionError):
                continue  # written by another version, or by hand
            if status.id == path.stem and _is_status(status):
                yield status


def _is_status(status: UploadStatus) -> bool:
    """Whether the values that were read are of the right types."""
    return (
        isinstance(status.name, str)
        and status.stage in get_args(Stage)
        and isinstance(status.note, str)
        and isinstance(status.share, int | float)
    )
