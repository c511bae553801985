"""Who may log in, and as whom: a line `user:password` for each person, the password hashed."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass, field
from functools import cached_property

from cachetools import LRUCache

from indexing.errors import InvalidRequest
from rag_app.chat.web.passwords import HashedPassword

LONGEST_NAME = 64  # characters of a user
LONGEST_PASSWORD = 1024  # bytes that are looked at
_REMEMBERED = 1024  # right credentials, as keyed hashes, so that a program's requests are quick


@dataclass(frozen=True, slots=True)
class Login:
    """Somebody who may log in; the password is hashed where the file has it so."""

    user: str
    password: str | HashedPassword = field(repr=False)

    def is_of(self, password: bytes) -> bool:
        """Whether this password, in UTF-8, is theirs."""
        if isinstance(self.password, HashedPassword):
            return self.password.matches(password)
        return hmac.compare_digest(password, self.password.encode())

    @property
    def mark(self) -> str:
        """What changes with their password, and says nothing about it to who does not know it."""
        password = self.password
        text = password.text if isinstance(password, HashedPassword) else password
        return hashlib.sha256(f"{self.user}\0{text}".encode()).hexdigest()


class Logins:
    """The people who may log in, one at least, no two of one name."""

    def __init__(self, people: tuple[Login, ...]) -> None:
        self.people = people
        self._by_name = {one.user: one for one in people}
        self._secret = secrets.token_bytes(32)
        self._right: LRUCache[bytes, str] = LRUCache(_REMEMBERED)
        self._lock = threading.Lock()

    @classmethod
    def parse(cls, text: str) -> Logins:
        """The logins of a text; blank lines and those that begin with "#" are left out.

        Raises:
            InvalidRequest: A line is no login, two have the same user, or there is none.
        """
        lines = tuple(each.strip() for each in text.splitlines())
        lines = tuple(each for each in lines if each and not each.startswith("#"))
        people: dict[str, Login] = {}
        for number, line in enumerate(lines, 1):
            name, _, password = line.partition(":")
            if not name or not password:
                raise InvalidRequest(
                    f"login {number} must be user:password; neither part may be empty"
                )
            if not is_user_name(name):
                raise InvalidRequest(f"login {number}: {NAME_RULE}")
            if name in people:
                raise InvalidRequest(f"two logins have the user {name}; remove one of them")
            people[name] = Login(name, HashedPassword.parse(password) or password)
        if not lines:
            raise InvalidRequest("there is no login; write user:password, one person a line")
        return cls(tuple(people.values()))

    @property
    def users(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(self._by_name)

    @property
    def plain(self) -> tuple[str, ...]:
        """Those whose passwords stand in plain text."""
        return tuple(one.user for one in self.people if isinstance(one.password, str))

    def mark(self, user: str) -> str | None:
        """`Login.mark` of somebody; None where they may not log in any more."""
        login = self._by_name.get(user)
        return login.mark if login else None

    def known(self, credentials: bytes) -> str | None:
        """Whose credentials these are, if they were right before; at once."""
        with self._lock:
            return self._right.get(self._key(credentials))

    def user(self, credentials: bytes) -> str | None:
        """Whose credentials, "user:password" in UTF-8, these are; None if they are nobody's.

        Takes equally long for a user whom nobody knows.
        """
        if (user := self.known(credentials)) is not None:
            return user
        name, _, password = credentials[: LONGEST_NAME * 4 + LONGEST_PASSWORD].partition(b":")
        login = self._by_name.get(name.decode("utf-8", "replace"))
        if not (login or self._nobody).is_of(password) or login is None:
            return None
        with self._lock:
            self._right[self._key(credentials)] = login.user
        return login.user

    @cached_property
    def _nobody(self) -> Login:
        """With a password that nobody knows, kept as the others' are."""
        password = secrets.token_hex(32)
        hashed = any(isinstance(one.password, HashedPassword) for one in self.people)
        return Login("", HashedPassword.of(password) if hashed else password)

    def _key(self, credentials: bytes) -> bytes:
        return hmac.digest(self._secret, credentials, "sha256")


NAME_RULE = (
    f"the user must have at most {LONGEST_NAME} characters, "
    "all of them printable, and no space before the colon"
)


def is_user_name(name: str) -> bool:
    """Whether somebody may have such a name."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()
