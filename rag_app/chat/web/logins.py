"""Who may log in, and as whom: a line `user:password` for each person."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from indexing.errors import InvalidRequest

LONGEST_NAME = 64  # characters of a user


@dataclass(frozen=True, slots=True)
class Logins:
    """The people who may log in, one at least.

    Attributes:
        lines: "user:password" of each.
    """

    lines: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Logins:
        """The logins of a text; blank lines and those that begin with "#" are left out.

        Raises:
            InvalidRequest: A line is no login, two have the same user, or there is none.
        """
        lines = tuple(each.strip() for each in text.splitlines())
        lines = tuple(each for each in lines if each and not each.startswith("#"))
        names: set[str] = set()
        for number, line in enumerate(lines, 1):
            name, _, password = line.partition(":")
            if not name or not password:
                raise InvalidRequest(
                    f"login {number} must be user:password; neither part may be empty"
                )
            plain = name.isprintable() and name == name.strip()
            if len(name) > LONGEST_NAME or not plain:
                raise InvalidRequest(
                    f"login {number}: the user must have at most {LONGEST_NAME} characters, "
                    "all of them printable, and no space before the colon"
                )
            if name in names:
                raise InvalidRequest(f"two logins have the user {name}; remove one of them")
            names.add(name)
        if not lines:
            raise InvalidRequest("there is no login; write user:password, one person a line")
        return cls(lines)

    @property
    def users(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(line.partition(":")[0] for line in self.lines)

    def user(self, credentials: bytes) -> str | None:
        """Whose credentials, "user:password" in UTF-8, these are; None if they are nobody's.

        Takes equally long wherever they differ.
        """
        login = None
        for line in self.lines:
            if hmac.compare_digest(credentials, line.encode()):
                login = line.partition(":")[0]
        return login
