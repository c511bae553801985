"""Conversations on the server's disk, each person's in a folder that only their key leads to.

The key is made here, kept by the browser, and never written down: a folder is named by its hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import replace
from pathlib import Path

from indexing.errors import CorpusError, InvalidRequest
from rag_app.chat.conversation import Chat, from_json, to_json

_KEY = re.compile(r"[\w-]{22,64}", re.ASCII)
_ID = re.compile(r"[0-9a-f]{16}")

MOST = 200  # conversations of one person; the oldest go first


def new_key() -> str:
    """A key that nobody guesses."""
    return secrets.token_urlsafe(24)


def is_key(value: object) -> bool:
    """Whether a browser has brought something that may be a key."""
    return isinstance(value, str) and _KEY.fullmatch(value) is not None


class Chats:
    """The conversations of everybody.

    Args:
        folder: Where they lie; comes into being with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self, key: str) -> list[Chat]:
        """A person's conversations, the latest first; one that cannot be read is left out."""
        files = sorted(self._own(key).glob("*.json"), key=_changed, reverse=True)
        return [chat for file in files if (chat := _read(file)) is not None]

    def get(self, key: str, id_: str) -> Chat | None:
        """One conversation, or None where there is none by that id."""
        file = self._file(key, id_)
        return _read(file) if file.is_file() else None

    def keep(self, key: str, chat: Chat) -> None:
        """Write a conversation, whole or not at all.

        Raises:
            CorpusError: The folder cannot be written to.
        """
        file = self._file(key, chat.id)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            for old in sorted(file.parent.glob("*.json"), key=_changed, reverse=True)[MOST:]:
                old.unlink(missing_ok=True)
            partial = file.with_suffix(f".{secrets.token_hex(4)}")
            partial.write_text(to_json(chat), encoding="utf-8")
            partial.replace(file)
        except OSError as error:
            raise CorpusError(
                f"{file.parent}: the conversation cannot be saved "
                f"({error.strerror or error}); free disk space, or check the folder's permissions"
            ) from error

    def forget(self, key: str, id_: str) -> None:
        """Remove a conversation."""
        self._file(key, id_).unlink(missing_ok=True)

    def _own(self, key: str) -> Path:
        if not is_key(key):
            raise InvalidRequest("not a valid browser key; reload the page")
        return self.folder / hashlib.sha256(key.encode()).hexdigest()[:32]

    def _file(self, key: str, id_: str) -> Path:
        if not _ID.fullmatch(id_):
            raise InvalidRequest("no such conversation; choose one from the list")
        return self._own(key) / f"{id_}.json"


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0


def _read(file: Path) -> Chat | None:
    """A kept conversation; what was under way when the server ended, ended with it."""
    try:
        chat = from_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidRequest):
        return None
    ended = tuple(
        each if each.over else replace(each, state="stopped", note="") for each in chat.exchanges
    )
    return replace(chat, exchanges=ended)
