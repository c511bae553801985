"""Access control: which requests are answered, and what a browser may do with the responses.

- Host: only names of this server, so that a foreign page cannot reach it by DNS rebinding.
- Origin: cross-origin requests are refused.
- Login: if there are any, the page, its static files and every endpoint require one, and learn
  whose it is (`user_of`). After a few wrong ones an address has to wait.
- Content-Security-Policy: nothing is loaded from, or sent to, another server.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_app.chat.web.login_brake import LoginBrake
from rag_app.chat.web.logins import Logins
from rag_app.chat.web.openai_errors import error_response, is_of_api

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# Gradio compiles its templates with `Function`, and styles elements in place.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# Files are uploaded at /files only, and nobody needs a description of the page's own requests.
BLOCKED = (
    "/gradio_api/upload",
    "/gradio_api/proxy=",
    "/gradio_api/openapi.json",
    "/openapi.json",
    "/docs",
    "/redoc",
)


_USER = "rag_app.user"  # in the scope of a request


def user_of(scope: Mapping[str, Any]) -> str | None:
    """Who sent a request that passed `AccessControl`, by its scope; None without logins."""
    user = scope[_USER]
    assert user is None or isinstance(user, str)
    return user


class AccessControl:
    """ASGI middleware that refuses requests without the right host, origin or login.

    Args:
        app: The web application behind it.
        hosts: Host names that are accepted; None accepts any.
        logins: Who may log in; None requires no login.
        brake: Counts wrong logins.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str] | None,
        logins: Logins | None,
        brake: LoginBrake | None = None,
    ) -> None:
        self._app = app
        self._brake = brake or LoginBrake()
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._logins = logins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # this application uses no web sockets
        client = scope.get("client")
        address = client[0] if client else ""
        headers = Headers(scope=scope)
        user = self._user(headers.get("authorization", ""))
        refusal = self._refusal(scope["path"], headers, address, user)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        scope[_USER] = user

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _user(self, header: str) -> str | None:
        """Whose login an Authorization header holds."""
        if self._logins is None:
            return None
        credentials = _credentials(header)
        return None if credentials is None else self._logins.user(credentials)

    def _refusal(
        self, path: str, headers: Headers, address: str, user: str | None
    ) -> Response | None:
        host = headers.get("host", "")
        if self._hosts is not None and _hostname(host) not in self._hosts:
            reason = "this server has no such host name; start it with --host, or use 127.0.0.1"
            return PlainTextResponse(reason, 421)
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return PlainTextResponse("cross-origin requests are refused", 403)
        if self._logins is not None:
            header = headers.get("authorization", "")
            refusal = self._login_refusal(path, header, address, user)
            if refusal is not None:
                return refusal
        if any(path.startswith(prefix) for prefix in BLOCKED):
            return PlainTextResponse("not found", 404)
        return None

    def _login_refusal(
        self, path: str, header: str, address: str, user: str | None
    ) -> Response | None:
        """Why a request without a right login is refused; wrong ones are counted."""
        wait = math.ceil(self._brake.wait(address)) if header else 0
        if wait:
            reason = f"too many wrong logins; try again in {wait} s"
            retry = {"Retry-After": str(wait)}
            if is_of_api(path):
                return error_response(reason, 429, code="rate_limit_exceeded", headers=retry)
            return PlainTextResponse(reason, 429, headers=retry)
        if user is not None:
            self._brake.right(address)
            return None
        if header:  # a browser asks without one first
            self._brake.wrong(address)
        challenge = {"WWW-Authenticate": 'Basic realm="rag-app", charset="UTF-8"'}
        if is_of_api(path):
            reason = "login required: give user:password as the API key"
            return error_response(reason, 401, code="invalid_api_key", headers=challenge)
        return PlainTextResponse("login required", 401, headers=challenge)


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


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
