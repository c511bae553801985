"""Files that people hand in: limited in size and kind, and never written outside of one folder."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import AsyncIterable
from pathlib import Path

from indexing.errors import CorpusError, UnreadableFile
from indexing.files import SUPPORTED
from indexing.loaders import LOADERS

DEEPEST = 8  # folders within a dropped folder
LONGEST = 120  # characters of one name
# What no file system takes, or no person can see.
_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069]')


def fit(name: str) -> Path:
    """A name that a browser has sent, as a path that leads nowhere but down.

    Raises:
        UnreadableFile: Nothing is left of it, or it is of a kind that is not read.
    """
    parts = unicodedata.normalize("NFC", name[:4096]).replace("\\", "/").split("/")
    clean = [_UNFIT.sub("_", part).strip(" .") for part in parts]
    kept = [_short(part) for part in clean if part][-DEEPEST:]
    if not kept:
        raise UnreadableFile(repr(name[:80]), "is no name for a file", "rename the file")
    path = Path(*kept)
    if path.suffix.lower() not in LOADERS:
        raise UnreadableFile(path.name, "is of a kind that is not read", f"hand in {SUPPORTED}")
    return path


def _short(part: str) -> str:
    """A name within the limit, its ending kept."""
    ending = Path(part).suffix[:16]
    return part if len(part) <= LONGEST else part[: LONGEST - len(ending)] + ending


class Uploads:
    """The folder that holds what was handed in.

    Args:
        folder: Where; comes into being with the first file.
        max_bytes: Of one file.
    """

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self.folder, self.max_bytes = folder.resolve(), max_bytes

    async def receive(self, name: str, content: AsyncIterable[bytes]) -> str:
        """Write a file, whole or not at all; one of the same name gives way. Its name in here.

        Raises:
            UnreadableFile: It is too large, or of a kind that is not read.
            CorpusError: The folder cannot be written to.
        """
        path = fit(name)
        partial = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            await self._write(partial, path.name, content)
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.resolve().is_relative_to(self.folder):
                raise UnreadableFile(path.name, "leads out of the folder", "rename the file")
            partial.replace(target)
        except OSError as error:
            raise CorpusError(
                f"{path.name}: cannot be kept ({error.strerror or error}); rename it, make room in "
                f"{self.folder}, or remove a folder or file of that name there"
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
        """The file of a name that `receive` gave, or None where there is none."""
        if not name or "\x00" in name or len(name) > 4096:
            return None
        try:
            path = (self.folder / name).resolve()
            inside = path.is_relative_to(self.folder) and path.is_file()
        except OSError:
            return None
        return path if inside and not path.name.startswith(".") else None

    def drop(self, path: str) -> None:
        """Delete a file if it is one of these; files elsewhere are a person's own."""
        own = Path(path)
        if own.is_absolute() and own.resolve().is_relative_to(self.folder):
            own.unlink(missing_ok=True)
