"""The language of the page: GET /words.js, what its scripts say; and which one the page is in.

Gradio takes the language of the browser. So that another can be chosen, the page names its language
and loads `words.js` before anything of Gradio's, which then finds that language there.
"""

from __future__ import annotations

import json

from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_app.chat.language.catalogue import messages_of
from rag_app.chat.language.current import COOKIE, Language, language_of

PATH = "/words.js"
HEADERS = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
_WORDS = """"use strict";
const ragAppLanguage = {value};
Object.defineProperty(navigator, "language", {{ get: () => ragAppLanguage.code }});
"""


def add(web: FastAPI) -> None:
    """Answer with what the scripts say in the language of whoever asks."""

    async def words(request: Request) -> Response:
        language = language_of(request.headers)
        value = {
            "code": language.code,
            "locale": language.locale.replace("_", "-"),
            "cookie": COOKIE,
            "messages": messages_of(language.code, ".js"),
        }
        script = _WORDS.format(value=json.dumps(value, ensure_ascii=True))
        return Response(script, media_type="text/javascript", headers=HEADERS)

    web.add_api_route(PATH, words, methods=["GET"], response_model=None)


class LanguageOfPage:
    """ASGI middleware that names the page's language in its HTML, and loads `words.js` first.

    Args:
        app: The web application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; the page's HTML comes back changed."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("GET", "/"):
            await self._app(scope, receive, send)
            return
        language = language_of(Headers(scope=scope))
        plain = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        start: Message = {}
        body: list[bytes] = []

        async def change(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body.append(message.get("body", b""))
            if message.get("more_body"):
                return
            html = _in(language, b"".join(body))
            headers = MutableHeaders(scope=start)
            headers["content-length"] = str(len(html))
            headers.add_vary_header(HEADERS["Vary"])
            await send(start)
            await send({"type": "http.response.body", "body": html})

        await self._app({**scope, "headers": plain}, receive, change)


def _in(language: Language, html: bytes) -> bytes:
    """A page of Gradio's, in another language than its English."""
    named = html.replace(b'lang="en"', f'lang="{language.code}"'.encode(), 1)
    scripts = "".join(
        f'<script src="{name}"></script>' for name in (PATH[1:], "static/language.js")
    )
    return named.replace(b"<head>", f"<head>{scripts}".encode(), 1)
