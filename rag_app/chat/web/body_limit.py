"""Requests that are too large are refused before anything is done with them."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_app.chat.web.openai_errors import error_response, is_of_api


class BodyLimit:
    """ASGI middleware that reads the body of a request, up to a limit, before it passes it on.

    The limit is in bytes; paths that are `apart` have one of their own.
    """

    def __init__(self, app: ASGIApp, *, limit: int, apart: Collection[str] = ()) -> None:
        self._app, self._limit, self._apart = app, limit, frozenset(apart)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or refuse it."""
        if scope["type"] != "http" or scope["path"] in self._apart:
            await self._app(scope, receive, send)
            return
        body = b"" if self._is_announced(scope) else await self._body(receive)
        if self._is_announced(scope) or body is None:
            await self._refusal(scope["path"])(scope, receive, send)
            return
        first: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        await self._app(scope, replay, send)

    def _is_announced(self, scope: Scope) -> bool:
        """Whether the headers say that the body is too large."""
        length = Headers(scope=scope).get("content-length", "")
        return length.isdecimal() and int(length[:20]) > self._limit

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None once it is too large."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(pieces)  # the client has gone
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._limit:
                return None
            if not message.get("more_body", False):
                return b"".join(pieces)

    def _refusal(self, path: str) -> Response:
        message = f"the request is larger than {self._limit:,} bytes; send less at once"
        if is_of_api(path):
            return error_response(message, 413, code="request_too_large")
        return PlainTextResponse(message, 413)
