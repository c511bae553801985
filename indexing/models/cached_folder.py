"""A folder that is made once, whole or not at all, and reused.

Many processes may ask for the same folder at once: one makes it while the others wait. A run killed
half-way leaves a `.part` folder that the next one throws away; a finished folder appears by one
rename, after its files were flushed to the disk.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import ModelError
from indexing.message import N_, Notify

if TYPE_CHECKING:
    from filelock import BaseFileLock


def cache_dir() -> Path:
    """$RAG_APP_CACHE, else the user's cache folder. It need not exist yet."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("RAG_APP_CACHE") or user_cache_dir("rag-app"))


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

log = logging.getLogger(__name__)


def cached_folder(
    target: Path, make: Callable[[Path], None], *, doing: str, notify: Notify | None = None
) -> Path:
    """The folder, made now if it is not there.

    Args:
        target: Where it lies; its name says what it was made from.
        make: Writes into an empty folder. What it raises otherwise is passed on, and nothing stays
            behind.
        doing: What takes long, for `notify`: "converting model.gguf".
        notify: Told before it is made, and when another process is making it.

    Raises:
        ModelError: The disk is full.
    """
    if target.is_dir():
        return target
    try:
        return _made(target, make, doing, notify)
    except Exception as error:
        number = _system_error(error)
        if number not in _NO_ROOM:
            raise
        raise ModelError(
            N_(
                "%(folder)s: cannot be written (%(error)s); make room there, or name a folder "
                "with more of it in RAG_APP_CACHE",
                folder=target,
                error=os.strerror(number),
            )
        ) from error


def _system_error(error: Exception) -> int:
    """Its number, also within an error of the library that writes weights; 0 for another error."""
    within = re.search(r"\(os error (\d+)\)", str(error))
    return (error.errno if isinstance(error, OSError) else within and int(within[1])) or 0


def _made(target: Path, make: Callable[[Path], None], doing: str, notify: Notify | None) -> Path:
    from filelock import FileLock

    target.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{target}.lock")
    if _is_held_elsewhere(lock):
        _tell(f"waiting for another process to make {target}", notify)
    with lock:
        if not target.is_dir():
            _tell(f"{doing} once, into {target}", notify)
            make_whole(target, make)
    return target


def _is_held_elsewhere(lock: BaseFileLock) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _tell(line: str, notify: Notify | None) -> None:
    log.info(line)
    if notify:
        notify(line)


def make_whole(target: Path, make: Callable[[Path], None]) -> None:
    """Write beside `target`, flush to disk, rename. The caller holds a lock."""
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        make(part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    for file in part.rglob("*"):
        if file.is_file():
            _flush(file)
    part.rename(target)


def _flush(file: Path) -> None:
    with file.open("r+b") as handle:
        os.fsync(handle.fileno())
