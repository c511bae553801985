"""Encoded corpora that evaluations keep in the user's cache, for the next one to use."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from indexing.models.cached_folder import cache_dir

QUERY_FILES = 16  # of vectors of queries beside a corpus; older ones are dropped


@dataclass(frozen=True, slots=True)
class CachedCorpus:
    """The corpus of a past evaluation."""

    folder: Path
    bytes: int

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return {"folder": str(self.folder), "bytes": self.bytes}


def evaluation_cache() -> Path:
    """The folder that holds the corpora of evaluations."""
    return cache_dir() / "evaluation"


def cached_corpora() -> list[CachedCorpus]:
    """All corpora in the cache, by name."""
    folders = sorted(
        each for each in evaluation_cache().glob("*") if each.is_dir() and not each.is_symlink()
    )
    return [CachedCorpus(folder, _size(folder)) for folder in folders]


def clear() -> tuple[list[CachedCorpus], list[CachedCorpus]]:
    """Remove the corpora; those removed, and those that an evaluation is writing to."""
    removed, busy = [], []
    for each in cached_corpora():
        try:
            with FileLock(each.folder / "write.lock", timeout=0):
                shutil.rmtree(each.folder, ignore_errors=True)
            removed.append(each)
        except (Timeout, OSError):
            busy.append(each)
    return removed, busy


def drop_oldest(folder: Path) -> None:
    """Remove all but the newest `QUERY_FILES` files of query vectors."""
    files = sorted(folder.glob("*.npy"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[QUERY_FILES:]:
        file.unlink(missing_ok=True)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
