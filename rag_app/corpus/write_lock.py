"""The right to write to a corpus: one process and one thread at a time, in the order of coming.

Whoever has to wait takes a ticket: a file, locked as long as whoever took it is there, whose name
says when that was. The first of those whose lock is held is next; those of the dead are removed.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import CorpusError, CorpusLocked
from indexing.store.database import make_folder
from rag_app.output_file import writable

if TYPE_CHECKING:
    from filelock import BaseFileLock

FILE_NAME = "write.lock"
WAIT = 60.0  # seconds, where nobody says otherwise
TICKETS = "write.tickets"
POLL = 0.02  # seconds between two looks
PATIENCE = 1.0  # seconds after which a person is told that somebody waits

Notify = Callable[[str], None]


@contextmanager
def lock(folder: Path, *, wait: float = 0.0, notify: Notify | None = None) -> Iterator[None]:
    """Nobody else can write to a corpus.

    Args:
        folder: Of the corpus; made where there is none.
        wait: Seconds to wait for those who came before.
        notify: Called with a sentence once waiting takes longer than PATIENCE.

    Raises:
        CorpusLocked: They took longer.
        CorpusError: The folder cannot be written to.
    """
    make_folder(folder)
    with ExitStack() as stack:
        remedy = "give yourself the right to write there, or name another with --corpus"
        with writable(folder, remedy, kind=CorpusError):
            held = _acquire(folder, wait, notify)
        stack.callback(held.release)
        with suppress(OSError):
            (folder / f"{FILE_NAME}.holder").write_text(json.dumps([os.getpid(), time.time()]))
        yield


def is_locked(folder: Path) -> bool:
    """Whether somebody may write now; asked by whoever may only read, too."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        with suppress(CorpusLocked, CorpusError), lock(folder):
            return False
        return True
    try:
        number = os.open(folder / FILE_NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(number)
    return False


def holder(folder: Path) -> str:
    """Who writes, in words."""
    try:
        pid, since = json.loads((folder / f"{FILE_NAME}.holder").read_text())
        who = "this process" if pid == os.getpid() else f"process {int(pid)}"
        return f"{who}, for {max(0, time.time() - float(since)):.0f} s"
    except (OSError, ValueError, TypeError):
        return "another process"


def _acquire(folder: Path, wait: float, notify: Notify | None) -> BaseFileLock:
    import filelock

    main = filelock.FileLock(folder / FILE_NAME, thread_local=False)
    tickets = folder / TICKETS
    if _next(tickets) is None and _is_free(main):
        return main
    if wait <= 0:
        raise _locked(folder, wait)
    begun = time.monotonic()
    tickets.mkdir(exist_ok=True)
    path = tickets / f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    ticket = filelock.FileLock(path, thread_local=False)
    ticket.acquire()
    try:
        while time.monotonic() - begun < wait:
            if _next(tickets) in {path.name, None} and _is_free(main):
                return main
            if notify is not None and time.monotonic() - begun > PATIENCE:
                notify(f"waiting until {holder(folder)}, has written to {folder}")
                notify = None
            time.sleep(POLL)
    finally:
        ticket.release()
        with suppress(OSError):
            path.unlink()
    raise _locked(folder, wait)


def _is_free(main: BaseFileLock) -> bool:
    """Whether the lock was to be had, and is held from now on."""
    import filelock

    try:
        main.acquire(timeout=0)
    except filelock.Timeout:
        return False
    return True


def _next(tickets: Path) -> str | None:
    """The name of the first ticket of whoever still waits."""
    import filelock

    for path in sorted(tickets.iterdir()) if tickets.is_dir() else ():
        try:
            other = filelock.FileLock(path, thread_local=False)
            other.acquire(timeout=0)
        except filelock.Timeout:
            return path.name
        except OSError:
            continue
        other.release()
        with suppress(OSError):
            path.unlink()
    return None


def _locked(folder: Path, wait: float) -> CorpusLocked:
    waited = f" after waiting {wait:.0f} s" if wait > 0 else ""
    return CorpusLocked(
        f"{folder}: another process is writing to this corpus{waited} ({holder(folder)}); wait "
        "until it is done, or wait longer with --wait (searching and asking go on meanwhile)"
    )
