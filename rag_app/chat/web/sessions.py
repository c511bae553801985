"""Sessions: who has logged in by the page's form, and not yet out. They outlive the server.

A browser keeps a random token in a cookie that no script can read; the server keeps the token's
hash, so that whoever reads the file can log in as nobody.
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

COOKIE = "rag_app_session"
LIFETIME = 30 * 24 * 3600  # seconds
MOST = 10_000  # of all people; the oldest end first
FILE = ".sessions.json"


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has logged in.

    Attributes:
        user: Their name.
        mark: `Login.mark` then: another password ends their sessions.
        end: When it is over, in seconds since 1970.
    """

    user: str
    mark: str
    end: float


class Sessions:
    """The sessions of a server.

    Args:
        logins: Who may log in.
        file: Where sessions are kept; None for as long as the server runs.
        clock: Seconds since 1970.
    """

    def __init__(
        self, logins: Logins, *, file: Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._logins, self._file, self._clock = logins, file, clock
        self._lock = threading.Lock()  # of the dictionary
        self._writing = threading.Lock()  # of the file; nobody who asks for a session waits for it
        self._sessions = _read(file)

    def begin(self, user: str) -> str:
        """A new session; its token. Writes to disk: not for an event loop."""
        token = secrets.token_urlsafe(32)
        mark = self._logins.mark(user)
        assert mark is not None, "asked for those who have just logged in"
        with self._lock:
            self._sessions[_digest(token)] = Session(user, mark, self._clock() + LIFETIME)
        self._save()
        return token

    def user(self, token: str) -> str | None:
        """Whose session a token is of; None where it is over, or was none."""
        with self._lock:
            session = self._sessions.get(_digest(token))
        if session is None or session.end <= self._clock():
            return None
        return session.user if self._logins.mark(session.user) == session.mark else None

    def end(self, token: str) -> None:
        """Log out. Writes to disk: not for an event loop."""
        with self._lock:
            self._sessions.pop(_digest(token), None)
        self._save()

    def _save(self) -> None:
        """Write the sessions that are not over; a full disk costs them with the next start."""
        if self._file is None:
            return
        with self._writing:
            now = self._clock()
            with self._lock:
                every = sorted(self._sessions.items(), key=lambda pair: -pair[1].end)
                self._sessions = {key: one for key, one in every[:MOST] if one.end > now}
                values = {key: asdict(one) for key, one in self._sessions.items()}
            draft = self._file.with_name(f"{self._file.name}.{secrets.token_hex(4)}")
            with suppress(OSError):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                draft.touch(mode=0o600)
                draft.write_text(json.dumps(values))
                draft.replace(self._file)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _read(file: Path | None) -> dict[str, Session]:
    """The sessions of a file; none where there is none, or something else."""
    try:
        values = json.loads(file.read_text("utf-8")) if file else {}
        return {
            str(key): Session(str(one["user"]), str(one["mark"]), float(one["end"]))
            for key, one in values.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
