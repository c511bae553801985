"""Sessions: who has logged in by the page's form, and not yet out. They outlive the server.

A browser keeps a random token in a cookie that no script can read; the server keeps the token's
hash, so that whoever reads the file can log in as nobody. Servers of one corpus share the file.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_app.chat.web.logins import Logins
from rag_app.output_file import PRIVATE, put_in_place

COOKIE = "rag_app_session"
LIFETIME = 30 * 24 * 3600  # seconds
MOST = 10_000  # of all people; the oldest end first
FILE = ".sessions.json"
WAIT = 10.0  # seconds for another server that writes the file

Mark = tuple[int, int, int]  # of a file: when it was written, in ns, its bytes and its inode


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has logged in, until an end in seconds since 1970.

    The mark is that of their login then: another password ends their sessions.
    """

    user: str
    mark: str
    end: float


class Sessions:
    """The sessions of a server, and of others that share its file; in memory alone without one."""

    def __init__(
        self, logins: Logins, *, file: Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._logins, self._file, self._clock = logins, file, clock
        self._lock = threading.Lock()  # of what is in memory; never held over the disk
        self._stored: dict[str, Session] = {}  # as the file with this mark says
        self._mark: Mark | None = None
        self._unsaved: dict[str, Session | None] = {}  # begun here, or ended: None
        self._follow()

    def begin(self, user: str) -> str:
        """A new session; its token. Writes to disk: not for an event loop."""
        token = secrets.token_urlsafe(32)
        mark = self._logins.mark(user)
        assert mark is not None, "asked for those who have just logged in"
        self._put(token, Session(user, mark, self._clock() + LIFETIME))
        return token

    def user(self, token: str) -> str | None:
        """Whose session a token is of; None where it is over, or was none."""
        self._follow()
        key = _digest(token)
        with self._lock:
            session = self._unsaved.get(key, self._stored.get(key))
        if session is None or session.end <= self._clock():
            return None
        return session.user if self._logins.mark(session.user) == session.mark else None

    def end(self, token: str) -> None:
        """Log out. Writes to disk: not for an event loop."""
        self._put(token, None)

    def _follow(self) -> None:
        """Read the file again if another server has written it."""
        if self._file is None:
            return
        with suppress(OSError):
            mark = _mark(self._file)
            if mark != self._mark:
                stored = _read(self._file)
                with self._lock:
                    self._stored, self._mark = stored, mark

    def _put(self, token: str, session: Session | None) -> None:
        """Begin or end a session; while the disk is full, for this server and until it ends."""
        with self._lock:
            self._unsaved[_digest(token)] = session
        if self._file is not None:
            with suppress(OSError):
                self._save(self._file)

    def _save(self, file: Path) -> None:
        """Make the changes of this server to the file, and no others."""
        from filelock import FileLock

        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock", timeout=WAIT):
            with self._lock:
                changes = dict(self._unsaved)
            now = self._clock()
            every = [
                (key, one)
                for key, one in {**_read(file), **changes}.items()
                if one is not None and one.end > now
            ]
            stored = dict(sorted(every, key=lambda pair: -pair[1].end)[:MOST])
            values = {key: asdict(one) for key, one in stored.items()}
            put_in_place(file, json.dumps(values), mode=PRIVATE)
            mark = _mark(file)
            with self._lock:
                self._stored, self._mark = stored, mark
                for key, one in changes.items():
                    if self._unsaved.get(key) is one:  # and has not ended meanwhile
                        self._unsaved.pop(key, None)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _mark(file: Path) -> Mark | None:
    """What changes with a file; None where there is none."""
    try:
        about = file.stat()
    except FileNotFoundError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def _read(file: Path) -> dict[str, Session]:
    """The sessions of a file; none where there is none, or something else."""
    try:
        values = json.loads(file.read_text("utf-8"))
        return {
            str(key): Session(str(one["user"]), str(one["mark"]), float(one["end"]))
            for key, one in values.items()
        }
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return {}
