"""Who sends a request: by a session's cookie, by a password, or by the word of a proxy."""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
from dataclasses import dataclass
from typing import Literal

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from rag_app.chat.web.login_brake import LoginBrake
from rag_app.chat.web.logins import Logins, is_user_name
from rag_app.chat.web.sessions import COOKIE, Sessions

AT_ONCE = 2  # passwords that are hashed at once: each takes memory, and a CPU


@dataclass(frozen=True, slots=True)
class Identity:
    """Who sends a request, as far as it shows."""

    user: str | None = None  # their name; None for a stranger
    by: Literal["", "session", "password", "proxy"] = ""  # what shows it; "" for nothing
    wait: int = 0  # seconds until a password of this login is looked at again
    wrong: bool = False  # whether a wrong login came with it


@dataclass(frozen=True, slots=True)
class ProxyUser:
    """A proxy that says in a header who has logged in; only from these addresses it is believed."""

    header: str
    proxies: frozenset[str]


class Identification:
    """Tells who sends a request.

    There are no logins and sessions where only a proxy says who somebody is.
    """

    def __init__(
        self,
        logins: Logins | None,
        *,
        sessions: Sessions | None,
        proxy: ProxyUser | None,
        brake: LoginBrake | None = None,
    ) -> None:
        self.logins, self.sessions, self.proxy = logins, sessions, proxy
        self._brake = brake or LoginBrake()
        self._hashing = asyncio.Semaphore(AT_ONCE)

    async def of(self, headers: Headers, *, address: str, peer: str) -> Identity:
        """Who sends a request with these headers.

        The address is where it is from, as far as proxies tell; the peer has made the connection.
        """
        if self.proxy is not None and peer in self.proxy.proxies:
            name = _text(headers.get(self.proxy.header, ""))
            if is_user_name(name):
                return Identity(name, "proxy")
        if self.sessions is not None:
            user = self.sessions.user(session_token(headers))
            if user is not None:
                return Identity(user, "session")
        header = headers.get("authorization", "")
        if self.logins is None or not header:
            return Identity()
        credentials = _credentials(header)
        if credentials is None:
            return Identity(wrong=True)
        return await self.of_password(credentials, address=address)

    async def of_password(self, credentials: bytes, *, address: str) -> Identity:
        """Who has this "user:password", in UTF-8; a wrong one is counted."""
        assert self.logins is not None
        name = credentials.partition(b":")[0].decode("utf-8", "replace")
        if wait := math.ceil(self._brake.wait(name, address)):
            return Identity(wait=wait)
        user = self.logins.known(credentials)
        if user is None:
            async with self._hashing:
                if wait := math.ceil(self._brake.wait(name, address)):  # of guesses side by side
                    return Identity(wait=wait)
                user = await asyncio.to_thread(self.logins.user, credentials)
        if user is None:
            self._brake.wrong(name, address)
            return Identity(wrong=True)
        self._brake.right(name, address)
        return Identity(user, "password")


def session_token(headers: Headers) -> str:
    """The token of a session in a request's cookies; "" for none."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def _text(value: str) -> str:
    """A header's value, which may be UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8").strip()
    except UnicodeDecodeError:
        return value.strip()


def _credentials(header: str) -> bytes | None:
    """What an Authorization header holds, as HTTP Basic or as a bearer token: user:password."""
    scheme, _, value = header.partition(" ")
    credentials = value.strip().encode("latin-1")  # the bytes, as they came
    if scheme.lower() == "bearer":
        return credentials
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(credentials, validate=True)
    except binascii.Error:
        return None
