"""Conversations on the server's disk, each person's in a folder that only their key opens.

With logins, the key is that of the login. Without, it is created here and stored by the browser.
It is never on disk: a folder is named by its hash.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from indexing.errors import CorpusError, InvalidRequest
from indexing.message import N_
from rag_app.chat.conversation import Conversation, from_json, to_json
from rag_app.output_file import PRIVATE, put_in_place

_KEY = re.compile(r"[\w-]{22,64}", re.ASCII)
_LOGIN = "login:"  # what the key of a login begins with, and no browser's does
_NAME = re.compile(r"[0-9a-f]{32}")
_ID = re.compile(r"[0-9a-f]{16}")

MAX_CONVERSATIONS = 200  # of one person; the oldest are deleted


def new_key() -> str:
    """A random key."""
    return secrets.token_urlsafe(24)


def is_key(value: object) -> bool:
    """Whether a value sent by a browser has the form of a key."""
    return isinstance(value, str) and _KEY.fullmatch(value) is not None


def login_key(user: str) -> str:
    """The key of somebody who has logged in."""
    return _LOGIN + user


class ConversationStore:
    """The conversations of everybody, in a folder that is created with the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self, key: str) -> list[Conversation]:
        """A person's conversations, pinned ones first, then latest first.

        Those that cannot be read are left out.
        """
        conversations = [
            one for one in map(_read, _latest_first(self._folder(key))) if one is not None
        ]
        return sorted(conversations, key=lambda one: not one.pinned)

    def get(self, key: str, id_: str) -> Conversation | None:
        """The conversation with an id, or None."""
        file = self._file(key, id_)
        return _read(file) if file.is_file() else None

    def everybody(self) -> Iterator[Conversation]:
        """The conversations of all people, for whoever may read the folder."""
        for file in sorted(self.folder.glob("*/*.json")):
            if (conversation := _read(file)) is not None:
                yield conversation

    def save(self, key: str, conversation: Conversation, *, in_place: bool = False) -> None:
        """Write a conversation atomically: as the latest of the list, or in its place there.

        Raises:
            CorpusError: The folder cannot be written to.
        """
        file = self._file(key, conversation.id)
        try:
            for folder in (self.folder, file.parent):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(PermissionError):  # earlier versions left it open; it may be another's
                self.folder.chmod(0o700)
            for old in _latest_first(file.parent)[MAX_CONVERSATIONS:]:
                if (one := _read(old)) is None or not one.pinned:
                    old.unlink(missing_ok=True)
            times = _times(file) if in_place else None
            put_in_place(file, to_json(conversation), mode=PRIVATE, times=times)
        except OSError as error:
            raise _not_saved(file.parent, error) from error

    def delete(self, key: str, id_: str) -> None:
        """Delete a conversation."""
        self._file(key, id_).unlink(missing_ok=True)

    def name(self, key: str) -> str:
        """The name of the folder that a key opens; the key cannot be found out from it.

        Raises:
            InvalidRequest: It is no key.
        """
        if not is_key(key) and not str(key).startswith(_LOGIN):
            raise InvalidRequest(N_("not a valid browser key; reload the page"))
        return hashlib.sha256(key.encode()).hexdigest()[:32]

    def state(self, name: str) -> object:
        """Equal to an earlier one while nothing in the folder of that name has changed.

        Its time alone does not tell two changes within a tick of the clock (4 ms) apart.
        """
        folder = self.folder / name
        try:
            if not _NAME.fullmatch(name):
                return None
            with os.scandir(folder) as files:
                return folder.stat().st_mtime_ns, sorted((one.name, one.inode()) for one in files)
        except OSError:
            return None

    def quoting(self, document: str) -> dict[str, int]:
        """How many conversations quote a document, by the name of the folder that they are in."""
        counts: Counter[str] = Counter()
        for file in self.folder.glob("*/*.json"):
            try:
                mentioned = f'"{document}"'.encode() in file.read_bytes()
            except OSError:
                continue
            conversation = _read(file) if mentioned else None
            if conversation is not None and conversation.quotes(document):
                counts[file.parent.name] += 1
        return dict(counts)

    def take_over(self, old: str, new: str) -> None:
        """Move the conversations of one key to another, as when a browser's person logs in.

        Raises:
            CorpusError: The folder cannot be written to.
        """
        source, target = self._folder(old), self._folder(new)
        if not source.is_dir():
            return
        try:
            target.mkdir(mode=0o700, exist_ok=True)
            for file in source.glob("*.json"):
                file.replace(target / file.name)  # ids are random: none meets another
            source.rmdir()
        except OSError as error:
            raise _not_saved(target, error) from error

    def _folder(self, key: str) -> Path:
        return self.folder / self.name(key)

    def _file(self, key: str, id_: str) -> Path:
        if not _ID.fullmatch(id_):
            raise InvalidRequest(N_("no such conversation; choose one from the list"))
        return self._folder(key) / f"{id_}.json"


def _not_saved(folder: Path, error: OSError) -> CorpusError:
    return CorpusError(
        N_(
            "%(name)s: the conversation cannot be saved (%(error)s); free disk space, or "
            "check the folder's permissions",
            name=folder,
            error=error.strerror or error,
        )
    )


def _times(file: Path) -> tuple[int, int] | None:
    """When a file was last read and written, ns since the epoch; None if there is none."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_atime_ns, about.st_mtime_ns


def _latest_first(folder: Path) -> list[Path]:
    def modified(file: Path) -> float:
        try:
            return file.stat().st_mtime
        except OSError:
            return 0

    return sorted(folder.glob("*.json"), key=modified, reverse=True)


def _read(file: Path) -> Conversation | None:
    """A saved conversation; an answer in progress when the server ended counts as stopped."""
    try:
        conversation = from_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidRequest):
        return None
    exchanges = tuple(
        each if each.over else replace(each, state="stopped", note="")
        for each in conversation.exchanges
    )
    return replace(conversation, exchanges=exchanges)
