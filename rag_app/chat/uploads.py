"""Uploaded files: limited in size and type, never written outside one folder."""

from __future__ import annotations

import errno
import filecmp
import hashlib
import os
import re
import unicodedata
from collections.abc import AsyncIterable, Collection, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath

from indexing.errors import CorpusError, UnreadableFile
from indexing.loaders import LOADERS
from indexing.message import N_
from indexing.walk import SUPPORTED
from rag_app.chat.queues.disk import on_disk
from rag_app.chat.upload_records import UploadRecords, UploadStatus
from rag_app.chat.viewer.recording import HEAD, flaw, is_recording, recordings, transcripts

WAITING = ".waiting"  # folder of files that are still to be indexed
PEOPLE = "people"  # folder of those that somebody uploaded who was logged in

MAX_RECORDING = 2 << 30  # bytes; two hours of a meeting's film
MAX_DEPTH = 8  # folders within a dropped folder
MAX_NAME = 120  # characters of one name
# Characters that file systems refuse, or that are invisible.
_UNUSABLE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069]')


@dataclass(frozen=True, slots=True)
class Received:
    """A complete file that is no upload yet: its safe name, its content, and whose it is."""

    name: str
    content: Path
    owner: str = ""


def safe_path(name: str) -> Path:
    """A name sent by a browser as a safe relative path, without `..` or unusable characters.

    Raises:
        UnreadableFile: No usable name remains, or the file type is not supported.
    """
    parts = unicodedata.normalize("NFC", name[:4096]).replace("\\", "/").split("/")
    clean = [_UNUSABLE.sub("_", part).strip(" .") for part in parts]
    names = [_short(part) for part in clean if part][-MAX_DEPTH:]
    if not names:
        raise UnreadableFile(repr(name[:80]), N_("is not a file name"), N_("rename the file"))
    path = Path(*names)
    if path.suffix.lower() not in LOADERS and not is_recording(path):
        remedy = N_("upload %(kinds)s, or the recording of a transcript", kinds=SUPPORTED)
        raise UnreadableFile(path.name, N_("is of an unsupported type"), remedy)
    return path.with_suffix(path.suffix.lower()) if is_recording(path) else path


def folder_of(owner: str | None) -> Path:
    """The folder of a person's uploads within that of all; that itself where nobody logs in."""
    if owner is None:
        return Path()
    return Path(PEOPLE, hashlib.sha256(owner.encode()).hexdigest()[:32])


def _refuse_other_kind(name: str, head: bytes) -> None:
    """Raise UnreadableFile where a recording is none, or of another kind than its name says."""
    if is_recording(name) and (wrong := flaw(name, head)):
        raise UnreadableFile(name, *wrong)


def _short(part: str) -> str:
    """A name within the limit, with its suffix."""
    ending = Path(part).suffix[:16]
    return part if len(part) <= MAX_NAME else part[: MAX_NAME - len(ending)] + ending


class Uploads:
    """The folder of uploaded files, created with the first, and those that are still to be indexed.

    One file has at most so many bytes, a recording more.
    """

    def __init__(self, folder: Path, *, max_bytes: int, max_recording: int = MAX_RECORDING) -> None:
        self.folder, self.max_bytes = folder.resolve(), max_bytes
        self.max_recording = max_recording
        self.records = UploadRecords(self.folder / WAITING)

    async def receive(
        self, name: str, content: AsyncIterable[bytes], *, owner: str | None = None
    ) -> Received:
        """Write a file beside the others; nothing of its name is replaced yet.

        Its owner is the login name of whoever sends it: two people's files never meet.

        Raises:
            UnreadableFile: It is too large, or of an unsupported type, or a recording of another
                kind than its name says.
            CorpusError: The folder cannot be written to.
        """
        path = folder_of(owner) / safe_path(name)
        if owner is None and path.parts[0] == PEOPLE:  # nobody writes to the folders of others
            path = Path(f"{PEOPLE}_", *path.parts[1:])
        with self._writable(path):
            await on_disk(self.target, path.as_posix())
            partial = await on_disk(self.records.new_content)
            try:
                await self._write(partial, path.name, content)
            except BaseException:
                await on_disk(partial.unlink, missing_ok=True)
                raise
        return Received(path.as_posix(), partial, owner or "")

    async def _write(self, partial: Path, name: str, content: AsyncIterable[bytes]) -> None:
        most = self.max_recording if is_recording(name) else self.max_bytes
        remedy = N_("save it as sound alone") if is_recording(name) else N_("split it")
        size, head = 0, b""
        with await on_disk(partial.open, "xb") as file:
            async for piece in content:
                size += len(piece)
                if size > most:
                    raise UnreadableFile(
                        name, N_("is larger than %(limit)s", limit=f"{most / 1e6:,.0f} MB"), remedy
                    )
                await on_disk(file.write, piece)
                head += piece[: HEAD - len(head)]
                if len(head) == HEAD:
                    _refuse_other_kind(name, head)
            _refuse_other_kind(name, head)
            await on_disk(file.flush)
            await on_disk(os.fsync, file.fileno())

    def target(self, name: str) -> Path:
        """Where a file of this name belongs; the folders above it are created.

        Raises:
            UnreadableFile: It would lie outside the folder.
            OSError: There is a folder of that name, or a file in the place of a folder.
        """
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.resolve().is_relative_to(self.folder):
            raise UnreadableFile(
                target.name, N_("leads outside the folder of uploads"), N_("rename the file")
            )
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "there is a folder of that name", str(target))
        return target

    def place(self, status: UploadStatus) -> Path:
        """Give an upload its place among the files, in place of one of the same name.

        Raises:
            UnreadableFile: It would lie outside the folder, or is gone.
            CorpusError: The folder cannot be written to.
        """
        content = self.records.content(status.id)
        with self._writable(Path(status.name)):
            target = self.target(status.name)
            if content.is_file():
                content.replace(target)
            elif not target.is_file():
                raise UnreadableFile(target.name, N_("is gone"), N_("upload it again"))
        return target

    def same(self, content: Path, name: str) -> bool:
        """Whether the file of a name holds just these bytes."""
        target = self.path(name)
        return target is not None and filecmp.cmp(content, target, shallow=False)

    def free_name(self, name: str, used: Container[str]) -> str:
        """The name with the first number that makes it one of its own: "notes (2).txt"."""
        path = PurePosixPath(name)
        for number in count(2):
            ending = f" ({number}){path.suffix}"
            other = path.with_name(path.stem[: MAX_NAME - len(ending)] + ending).as_posix()
            if other not in used and not (self.folder / other).exists():
                return other
        raise AssertionError("there are more numbers than files")

    @contextmanager
    def _writable(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CorpusError(
                f"{path.name}: cannot be saved ({error.strerror or error}); rename it, make room "
                f"in {self.folder}, or remove a folder or file of that name there"
            ) from error

    def path(self, name: str) -> Path | None:
        """The file of a name that was placed, or None."""
        if not name or "\x00" in name or len(name) > 4096:
            return None
        try:
            path = (self.folder / name).resolve()
            inside = path.is_relative_to(self.folder) and path.is_file()
        except OSError:
            return None
        if not inside or any(part.startswith(".") for part in path.relative_to(self.folder).parts):
            return None
        return path

    def delete(self, path: str) -> None:
        """Delete a file if it lies in this folder; other files are left alone."""
        if self._is_ours(Path(path)):
            Path(path).unlink(missing_ok=True)

    def delete_recordings(self, transcript: str, others: Collection[str]) -> None:
        """Delete the recordings of a transcript in this folder that no other document has."""
        for each in recordings(Path(transcript)) if self._is_ours(Path(transcript)) else ():
            if not transcripts(each.path, others):
                self.delete(str(each.path))

    def _is_ours(self, file: Path) -> bool:
        return file.is_absolute() and file.resolve().is_relative_to(self.folder)
