"""Access control: which requests are answered, and what a browser may do with the responses.

- Host: only names of this server, so that a foreign page cannot reach it by DNS rebinding.
- Origin: cross-origin requests are refused.
- Login: if one is set, the page, its static files and every endpoint require it.
- Content-Security-Policy: nothing is loaded from, or sent to, another server.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
BLOCKED = ("/gradio_api/upload", "/gradio_api/proxy=")  # files are uploaded at /files only


class AccessControl:
    """ASGI middleware that refuses requests without the right host, origin or login.

    Args:
        app: The web application behind it.
        hosts: Host names that are accepted; None accepts any.
        login: "user:password"; None requires no login.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] | None, login: str | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._login = login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # this application uses no web sockets
        refusal = self._refusal(scope["path"], Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _refusal(self, path: str, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if self._hosts is not None and _hostname(host) not in self._hosts:
            reason = "this server has no such host name; start it with --host, or use 127.0.0.1"
            return PlainTextResponse(reason, 421)
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return PlainTextResponse("cross-origin requests are refused", 403)
        if self._login is not None and not _has_login(
            headers.get("authorization", ""), self._login
        ):
            challenge = {"WWW-Authenticate": 'Basic realm="rag-app", charset="UTF-8"'}
            return PlainTextResponse("login required", 401, headers=challenge)
        if any(path.startswith(prefix) for prefix in BLOCKED):
            return PlainTextResponse("not found", 404)
        return None


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _has_login(header: str, login: str) -> bool:
    """Whether an Authorization header holds the login, as HTTP Basic or as a bearer token."""
    scheme, _, value = header.partition(" ")
    credentials = value.strip().encode("latin-1")  # the bytes, as they came
    if scheme.lower() == "basic":
        try:
            credentials = base64.b64decode(credentials, validate=True)
        except binascii.Error:
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(credentials, login.encode())
