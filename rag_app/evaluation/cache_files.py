"""What evaluations leave in the user's cache, so that the next one is quick: encoded corpora."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from indexing.models.gguf import cache_folder

QUERY_FILES = 16  # of vectors of queries beside a corpus; older ones are dropped


@dataclass(frozen=True, slots=True)
class Kept:
    """One corpus of a past evaluation.

    Attributes:
        folder: Where it lies.
        bytes: What it takes on disk.
    """

    folder: Path
    bytes: int

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return {"folder": str(self.folder), "bytes": self.bytes}


def home() -> Path:
    """The folder that holds the corpora of evaluations."""
    return cache_folder() / "evaluation"


def kept() -> list[Kept]:
    """All of them, by name."""
    folders = sorted(each for each in home().glob("*") if each.is_dir() and not each.is_symlink())
    return [Kept(folder, _size(folder)) for folder in folders]


def clear() -> tuple[list[Kept], list[Kept]]:
    """Remove them; those removed, and those that stay because an evaluation writes to them."""
    removed, busy = [], []
    for each in kept():
        try:
            with FileLock(each.folder / "write.lock", timeout=0):
                shutil.rmtree(each.folder, ignore_errors=True)
            removed.append(each)
        except (Timeout, OSError):
            busy.append(each)
    return removed, busy


def drop_older(folder: Path) -> None:
    """Keep the newest files of query vectors in a folder."""
    files = sorted(folder.glob("*.npy"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[QUERY_FILES:]:
        file.unlink(missing_ok=True)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
