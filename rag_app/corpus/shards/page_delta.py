"""What has changed in the database of a shard since the state before it: pages, in a small file.

A machine that has the state before makes the next one of it, so that what travels to it grows with
the change and not with the shard.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

FILE_NAME = "delta.npz"
PAGE = 4096  # bytes; SQLite's own, though none of this depends on it
BLOCK = 4096  # pages that are compared at a time


def write_delta(before: Path, after: Path, stamp: str) -> None:
    """Write beside a closed database what is other in it than in the closed one before."""
    old, new = (np.memmap(path, np.uint8, mode="r") for path in (before, after))
    common = min(len(old), len(new)) // PAGE
    changed = [np.arange(common, -(-len(new) // PAGE))]
    for first in range(0, common, BLOCK):
        part = slice(first * PAGE, min(first + BLOCK, common) * PAGE)
        same = old[part].reshape(-1, PAGE) == new[part].reshape(-1, PAGE)
        changed.append(first + np.flatnonzero(~same.all(axis=1)))
    numbers = np.sort(np.concatenate(changed))
    pages = [np.asarray(new[number * PAGE : (number + 1) * PAGE]) for number in numbers]
    np.savez(
        after.with_name(FILE_NAME),
        stamp=np.array(stamp),
        size=len(new),
        numbers=numbers,
        pages=np.concatenate([np.zeros(0, np.uint8), *pages]),
    )


def stamp_before(folder: Path) -> str:
    """The stamp of the state that the delta in a folder is of; "" where there is none."""
    try:
        with np.load(folder / FILE_NAME, allow_pickle=False) as delta:
            return str(delta["stamp"])
    except (OSError, ValueError, KeyError, BadZipFile):
        return ""


def apply_delta(folder: Path, before: Path, target: Path) -> None:
    """Make a database of the one before it and the delta in a folder.

    Raises:
        OSError: One of them cannot be read, or the target not be written.
        ValueError: The delta is damaged. So are KeyError and BadZipFile.
    """
    shutil.copyfile(before, target)
    with np.load(folder / FILE_NAME, allow_pickle=False) as delta, target.open("r+b") as file:
        pages, size = delta["pages"].tobytes(), int(delta["size"])
        for at, number in enumerate(delta["numbers"].tolist()):
            file.seek(number * PAGE)
            file.write(pages[at * PAGE : (at + 1) * PAGE])
        file.truncate(size)
