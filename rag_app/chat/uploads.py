"""Uploaded files: limited in size and type, never written outside one folder."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import AsyncIterable
from pathlib import Path

from indexing.errors import CorpusError, UnreadableFile
from indexing.loaders import LOADERS
from indexing.walk import SUPPORTED

MAX_DEPTH = 8  # folders within a dropped folder
MAX_NAME = 120  # characters of one name
# Characters that file systems refuse, or that are invisible.
_UNUSABLE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069]')


def safe_path(name: str) -> Path:
    """A name sent by a browser as a safe relative path, without `..` or unusable characters.

    Raises:
        UnreadableFile: No usable name remains, or the file type is not supported.
    """
    parts = unicodedata.normalize("NFC", name[:4096]).replace("\\", "/").split("/")
    clean = [_UNUSABLE.sub("_", part).strip(" .") for part in parts]
    names = [_short(part) for part in clean if part][-MAX_DEPTH:]
    if not names:
        raise UnreadableFile(repr(name[:80]), "is not a file name", "rename the file")
    path = Path(*names)
    if path.suffix.lower() not in LOADERS:
        raise UnreadableFile(path.name, "is of an unsupported type", f"upload {SUPPORTED}")
    return path


def _short(part: str) -> str:
    """A name within the limit, with its suffix."""
    ending = Path(part).suffix[:16]
    return part if len(part) <= MAX_NAME else part[: MAX_NAME - len(ending)] + ending


class Uploads:
    """The folder of uploaded files.

    Args:
        folder: Created with the first file.
        max_bytes: Size limit of one file.
    """

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self.folder, self.max_bytes = folder.resolve(), max_bytes

    async def receive(self, name: str, content: AsyncIterable[bytes]) -> str:
        """Write a file atomically, replacing one of the same name; returns its relative name.

        Raises:
            UnreadableFile: It is too large, or of an unsupported type.
            CorpusError: The folder cannot be written to.
        """
        path = safe_path(name)
        partial = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            await self._write(partial, path.name, content)
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.resolve().is_relative_to(self.folder):
                raise UnreadableFile(
                    path.name, "leads outside the folder of uploads", "rename the file"
                )
            partial.replace(target)
        except OSError as error:
            raise CorpusError(
                f"{path.name}: cannot be saved ({error.strerror or error}); rename it, make room "
                f"in {self.folder}, or remove a folder or file of that name there"
            ) from error
        finally:
            partial.unlink(missing_ok=True)
        return path.as_posix()

    async def _write(self, partial: Path, name: str, content: AsyncIterable[bytes]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        size = 0
        with partial.open("xb") as file:
            async for piece in content:
                size += len(piece)
                if size > self.max_bytes:
                    limit = f"{self.max_bytes / 1e6:,.0f} MB"
                    raise UnreadableFile(name, f"is larger than {limit}", "split it")
                file.write(piece)

    def path(self, name: str) -> Path | None:
        """The file of a name that `receive` returned, or None."""
        if not name or "\x00" in name or len(name) > 4096:
            return None
        try:
            path = (self.folder / name).resolve()
            inside = path.is_relative_to(self.folder) and path.is_file()
        except OSError:
            return None
        return path if inside and not path.name.startswith(".") else None

    def delete(self, path: str) -> None:
        """Delete a file if it lies in this folder; other files are left alone."""
        file = Path(path)
        if file.is_absolute() and file.resolve().is_relative_to(self.folder):
            file.unlink(missing_ok=True)
