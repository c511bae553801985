"""Access control: which requests are answered, and what a browser may do with the responses.

- Host: only names of this server, so that a foreign page cannot reach it by DNS rebinding.
- Origin: cross-origin requests are refused.
- Login: if there are any, the page, its static files and every endpoint require one, and learn
  whose it is (`user_of`). People log in by a form and get a session, programs send a password, and
  a proxy may say who somebody is (`identity`). After a few wrong passwords a login has to wait.
- Content-Security-Policy: nothing is loaded from, or sent to, another server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_app.chat.queues.disk import on_disk
from rag_app.chat.web import login_page
from rag_app.chat.web.identity import Identification, Identity, session_token
from rag_app.chat.web.openai_errors import error_response, is_of_api
from rag_app.chat.web.sessions import COOKIE, LIFETIME

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
    "Referrer-Policy": "same-origin",  # without one, browsers send forms with the origin "null"
}
CHALLENGE = {"WWW-Authenticate": 'Basic realm="rag-app", charset="UTF-8"'}
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
_PEER = "rag_app.peer"
_LONGEST_FORM = 16_384  # bytes


def user_of(scope: Mapping[str, Any]) -> str | None:
    """Who sent a request that passed `AccessControl`, by its scope; None without logins."""
    user = scope[_USER]
    assert user is None or isinstance(user, str)
    return user


class AccessControl:
    """ASGI middleware that refuses requests without the right host, origin or login.

    Any host is right where `hosts` is None; nobody has to log in without an identification.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str] | None,
        identification: Identification | None = None,
    ) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._identification = identification

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # this application uses no web sockets
        headers = Headers(scope=scope)
        response = self._foreign(headers)
        identity = Identity()
        if response is None and self._identification is not None:
            identity = await self._identification.of(
                headers, address=_address(scope), peer=scope.get(_PEER) or _address(scope)
            )
            response = await self._login_response(scope, receive, headers, identity)
        elif response is None and scope["path"] == login_page.WHO:
            response = _who(identity)
        if response is None and any(scope["path"].startswith(one) for one in BLOCKED):
            response = PlainTextResponse("not found", 404)
        scope[_USER] = identity.user

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await (response or self._app)(scope, receive, send_with_headers)

    def _foreign(self, headers: Headers) -> Response | None:
        """Why a request of another host or origin is refused."""
        host = headers.get("host", "")
        if self._hosts is not None and _hostname(host) not in self._hosts:
            reason = "this server has no such host name; start it with --host, or use 127.0.0.1"
            return PlainTextResponse(reason, 421)
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return PlainTextResponse("cross-origin requests are refused", 403)
        return None

    async def _login_response(
        self, scope: Scope, receive: Receive, headers: Headers, identity: Identity
    ) -> Response | None:
        """What is answered before the application: the form, its result, and refusals."""
        identification, path = self._identification, scope["path"]
        assert identification is not None
        forms = identification.sessions is not None
        if forms and (scope["method"], path) == ("POST", login_page.PATH):
            return await _log_in(identification, scope, receive, headers)
        if forms and (scope["method"], path) == ("POST", login_page.OUT):
            return await _log_out(identification, headers)
        if identity.user is None:
            return _refusal(scope, headers, identity, form=forms)
        if path == login_page.WHO:
            return _who(identity)
        if forms and path == login_page.PATH:
            return RedirectResponse("./", 303)
        return None


def _who(identity: Identity) -> Response:
    """Who is logged in, and how, for the page."""
    values = {"user": identity.user, "by": identity.by}
    return JSONResponse(values, headers={"Cache-Control": "no-store"})


async def _log_in(
    identification: Identification, scope: Scope, receive: Receive, headers: Headers
) -> Response:
    """The answer to the form: a session and the page, or the form again."""
    form = parse_qs((await _body(receive)).decode("utf-8", "replace"))
    user, password = (form.get(name, [""])[0] for name in ("user", "password"))
    credentials = f"{user.strip()}:{password}".encode()
    identity = await identification.of_password(credentials, address=_address(scope))
    if identity.user is None:
        refused = replace(identity, wrong=True)
        return login_page.login_page(headers, scope["path"], refused, user=user)
    assert identification.sessions is not None
    token = await on_disk(identification.sessions.begin, identity.user)
    response = RedirectResponse("./", 303)
    response.set_cookie(
        COOKIE,
        token,
        max_age=LIFETIME,
        httponly=True,
        samesite="lax",
        secure=scope.get("scheme") == "https",
    )
    return response


async def _log_out(identification: Identification, headers: Headers) -> Response:
    """End the session of a browser, and show the form."""
    assert identification.sessions is not None
    await on_disk(identification.sessions.end, session_token(headers))
    response = RedirectResponse("./", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def _refusal(scope: Scope, headers: Headers, identity: Identity, *, form: bool) -> Response:
    """Why a request without a right login is refused."""
    path, wait = scope["path"], identity.wait
    reason = f"too many wrong logins; try again in {wait} s" if wait else "login required"
    if is_of_api(path):
        if wait:
            retry = {"Retry-After": str(wait)}
            return error_response(reason, 429, code="rate_limit_exceeded", headers=retry)
        reason = "login required: give user:password as the API key"
        return error_response(reason, 401, code="invalid_api_key", headers=CHALLENGE)
    if form and scope["method"] in {"GET", "HEAD"} and "text/html" in headers.get("accept", ""):
        return login_page.login_page(headers, path, identity)
    if wait:
        return PlainTextResponse(reason, 429, {"Retry-After": str(wait)})
    by_script = "sec-fetch-mode" in headers  # a browser would ask people for a password again
    return PlainTextResponse(reason, 401, {} if by_script or not form else CHALLENGE)


async def _body(receive: Receive) -> bytes:
    """The body of a form; nothing where it is too long for one."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = bool(message.get("more_body", False))
        if len(body) > _LONGEST_FORM:
            return b""
    return body


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def with_peer(app: ASGIApp) -> ASGIApp:
    """An application that knows who has made the connection, whatever proxies say of it later."""

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope[_PEER] = _address(scope)
        await app(scope, receive, send)

    return noted


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
