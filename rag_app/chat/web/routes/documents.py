"""GET /documents/ID/...: a document for the page's viewer, for whoever may see it.

`view` is the whole of it, `parts/N` a part of its text, `pages/N` the picture of a page, `boxes`
where a span stands on its pages, `matches` where words stand in it, `recording` what was recorded,
`figures/KEY` a figure in it.
Only documents have addresses: no name of a file is ever taken from a request.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response

from indexing.errors import DocumentNotFound, RagAppError
from indexing.message import N_
from rag_app.chat.language.current import speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import document_view
from rag_app.chat.viewer import blocks
from rag_app.chat.viewer.matches import matches
from rag_app.chat.web.auth import user_of

if TYPE_CHECKING:
    from indexing.documents import Document
    from rag_app.chat.application import Application
    from rag_app.chat.viewer.viewer import Viewer

PATH = "/documents/{id_}"
GONE = N_("This document is no longer in the corpus.")
HIDDEN = N_("This document is no longer in the corpus, or no longer shared with you.")
# Always asked for again, so that what is no longer shared is no longer shown; no page elsewhere may
# show it at all.
HEADERS = {"Cache-Control": "private, no-cache", "Cross-Origin-Resource-Policy": "same-origin"}


def add(web: FastAPI, app: Application) -> None:
    """Add the routes."""
    handlers = _Handlers(app.viewer)
    routes: dict[str, Callable[..., Awaitable[Response]]] = {
        "view": handlers.view,
        "parts/{number}": handlers.part,
        "pages/{number}": handlers.page,
        "boxes": handlers.boxes,
        "matches": handlers.matches,
        "recording": handlers.recording,
        "figures/{key}": handlers.figure,
    }
    for path, handler in routes.items():
        web.add_api_route(f"{PATH}/{path}", handler, methods=["GET", "HEAD"], response_model=None)


class _Handlers:
    """One route each."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer

    async def view(self, request: Request, id_: str) -> Response:
        def make() -> Response:
            opened = self._viewer.open(id_, user_of(request.scope))
            return HTMLResponse(
                document_view.document(
                    opened.document,
                    quote=_span(request, opened.document),
                    problem=opened.problem,
                    sizes=opened.sizes,
                    recording=opened.recording,
                ),
                headers=HEADERS,
            )

        return await _answer(request, make)

    async def part(self, request: Request, id_: str, number: str) -> Response:
        def make() -> Response:
            document = self._viewer.document(id_, user_of(request.scope))
            quote = _span(request, document)
            html = document_view.part(document, _number(number), quote=quote)
            return HTMLResponse(html, 200 if html else 404, headers=HEADERS)

        return await _answer(request, make)

    async def page(self, request: Request, id_: str, number: str) -> Response:
        width = _number(request.query_params.get("width", ""))

        def make() -> Response:
            person = user_of(request.scope)
            picture = self._viewer.picture(id_, person, _number(number), width)
            if picture is None:
                return PlainTextResponse("the file cannot be shown", 404)
            tag = f'"{hashlib.sha256(picture).hexdigest()[:24]}"'
            headers = {**HEADERS, "ETag": tag}
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers=headers)
            return Response(picture, media_type="image/jpeg", headers=headers)

        return await _answer(request, make)

    async def boxes(self, request: Request, id_: str) -> Response:
        def make() -> Response:
            person = user_of(request.scope)
            span = _span(request, self._viewer.document(id_, person))
            pages = self._viewer.boxes(id_, person, *span) if span else []
            return JSONResponse([asdict(each) for each in pages], headers=HEADERS)

        return await _answer(request, make)

    async def matches(self, request: Request, id_: str) -> Response:
        def make() -> Response:
            document = self._viewer.document(id_, user_of(request.scope))
            spans = blocks.parts(document)
            found = [
                {
                    "start": start,
                    "end": end,
                    "part": blocks.part_of(spans, start),
                    "page": document.page_at(start),
                }
                for start, end in matches(document.text, request.query_params.get("words", ""))
            ]
            return JSONResponse(found, headers=HEADERS)

        return await _answer(request, make)

    async def figure(self, request: Request, id_: str, key: str) -> Response:
        def make() -> Response:
            figure = self._viewer.figure(id_, user_of(request.scope), key)
            headers = {
                **HEADERS,
                "X-Content-Type-Options": "nosniff",
                "ETag": f'"{figure.key[:24]}"',
            }
            return Response(figure.data, media_type=figure.media_type, headers=headers)

        return await _answer(request, make)

    async def recording(self, request: Request, id_: str) -> Response:
        def make() -> Response:
            found = self._viewer.recording(id_, user_of(request.scope))
            if found is None:
                return PlainTextResponse("there is no recording beside this document", 404)
            return FileResponse(found.path, media_type=found.type, headers=HEADERS)

        return await _answer(request, make)


async def _answer(request: Request, make: Callable[[], Response]) -> Response:
    """What a thread makes of a request, or why it cannot."""
    speak_to(request.headers)
    try:
        return await asyncio.to_thread(make)
    except DocumentNotFound:
        return PlainTextResponse(translated(HIDDEN if user_of(request.scope) else GONE), 404)
    except RagAppError as error:
        return PlainTextResponse(translated(f"{getattr(error, 'reason', error)}"), 422)


def _span(request: Request, document: Document) -> blocks.Offsets | None:
    """The span that a request names, if it lies in the document."""
    start, end = (_number(request.query_params.get(name, "")) for name in ("start", "end"))
    return (start, end) if 0 <= start < end <= len(document.text) else None


def _number(text: str) -> int:
    """A number that a request holds; -1 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else -1
