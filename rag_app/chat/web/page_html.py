"""The HTML of the page: Gradio's, in the language of whoever asks, with our scripts before it.

Scripts that Gradio is given for the head of the page are loaded while it builds the page. A
component that is there before them would never be connected to what they do.
"""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_app.chat.language.current import Language, language_of
from rag_app.chat.web.routes import languages

# Gradio's script for pages within other pages, which are refused; so was the script, at each load.
_EMBEDDING = re.compile(
    rb"<script>(?:(?!</script>).)*iframeResizer\.contentWindow(?:(?!</script>).)*</script>",
    re.DOTALL,
)


class PageHtml:
    """ASGI middleware that completes the page's HTML with a head before anything of Gradio's."""

    def __init__(self, app: ASGIApp, *, head: str) -> None:
        self._app, self._head = app, head

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
            html = _completed(b"".join(body), language, self._head)
            headers = MutableHeaders(scope=start)
            headers["content-length"] = str(len(html))
            headers.add_vary_header(languages.HEADERS["Vary"])
            await send(start)
            await send({"type": "http.response.body", "body": html})

        await self._app({**scope, "headers": plain}, receive, change)


def _completed(html: bytes, language: Language, head: str) -> bytes:
    own = _EMBEDDING.sub(b"", html, count=1)
    named = own.replace(b'lang="en"', f'lang="{language.code}"'.encode(), 1)
    first = f'<head><script src="{languages.PATH[1:]}"></script>{head}'
    return named.replace(b"<head>", first.encode(), 1)
