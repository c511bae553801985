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

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response

from indexing.documents import Document
from indexing.errors import DocumentNotFound, RagAppError
from indexing.message import N_
from rag_app.chat.application import Application
from rag_app.chat.language.current import speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import document_view
from rag_app.chat.viewer import blocks
from rag_app.chat.viewer.matches import matches
from rag_app.chat.viewer.viewer import Viewer
from rag_app.chat.web.auth import user_of

PATH = "/documents/{id_}"
GONE = N_("This document is no longer in the corpus.")
HIDDEN = N_("This document is no longer in the corpus, or no longer shared with you.")
# Always asked for again, so that what is no longer shared is no longer shown; no page elsewhere may
# show it at all.
HEADERS = {"Cache-Control": "private, no-cache", "Cross-Origin-Resource-Policy": "same-origin"}


def add(web: FastAPI, app: Application) -> None:
    """Add the routes."""
    for path, make in ROUTES.items():
        web.add_api_route(
            f"{PATH}/{path}", _route(make, app.viewer), methods=["GET", "HEAD"], response_model=None
        )


def _view(viewer: Viewer, id_: str, request: Request) -> Response:
    opened = viewer.open(id_, user_of(request.scope))
    html = document_view.document(
        opened.document,
        quote=_span(request, opened.document),
        problem=opened.problem,
        sizes=opened.sizes,
        recording=opened.recording,
    )
    return HTMLResponse(html, headers=HEADERS)


def _part(viewer: Viewer, id_: str, request: Request) -> Response:
    document = viewer.document(id_, user_of(request.scope))
    number = _number(request.path_params["number"])
    html = document_view.part(document, number, quote=_span(request, document))
    return HTMLResponse(html, 200 if html else 404, headers=HEADERS)


def _page(viewer: Viewer, id_: str, request: Request) -> Response:
    width = _number(request.query_params.get("width", ""))
    number = _number(request.path_params["number"])
    picture = viewer.picture(id_, user_of(request.scope), number, width)
    if picture is None:
        return PlainTextResponse("the file cannot be shown", 404)
    tag = f'"{hashlib.sha256(picture).hexdigest()[:24]}"'
    headers = {**HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(picture, media_type="image/jpeg", headers=headers)


def _boxes(viewer: Viewer, id_: str, request: Request) -> Response:
    person = user_of(request.scope)
    span = _span(request, viewer.document(id_, person))
    pages = viewer.boxes(id_, person, *span) if span else []
    return JSONResponse([asdict(each) for each in pages], headers=HEADERS)


def _matches(viewer: Viewer, id_: str, request: Request) -> Response:
    document = viewer.document(id_, user_of(request.scope))
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


def _figure(viewer: Viewer, id_: str, request: Request) -> Response:
    figure = viewer.figure(id_, user_of(request.scope), request.path_params["key"])
    headers = {**HEADERS, "X-Content-Type-Options": "nosniff", "ETag": f'"{figure.key[:24]}"'}
    return Response(figure.data, media_type=figure.media_type, headers=headers)


def _recording(viewer: Viewer, id_: str, request: Request) -> Response:
    found = viewer.recording(id_, user_of(request.scope))
    if found is None:
        return PlainTextResponse("there is no recording beside this document", 404)
    return FileResponse(found.path, media_type=found.type, headers=HEADERS)


Make = Callable[["Viewer", str, Request], Response]

ROUTES: dict[str, Make] = {
    "view": _view,
    "parts/{number}": _part,
    "pages/{number}": _page,
    "boxes": _boxes,
    "matches": _matches,
    "recording": _recording,
    "figures/{key}": _figure,
}
"""What answers each, by the end of its path."""


def _route(make: Make, viewer: Viewer) -> Callable[..., Awaitable[Response]]:
    """What a thread makes of a request, or why it cannot."""

    async def answer(request: Request, id_: str) -> Response:
        speak_to(request.headers)
        try:
            return await asyncio.to_thread(make, viewer, id_, request)
        except DocumentNotFound:
            return PlainTextResponse(translated(HIDDEN if user_of(request.scope) else GONE), 404)
        except RagAppError as error:
            return PlainTextResponse(translated(f"{getattr(error, 'reason', error)}"), 422)

    return answer


def _span(request: Request, document: Document) -> blocks.Offsets | None:
    """The span that a request names, if it lies in the document."""
    start, end = (_number(request.query_params.get(name, "")) for name in ("start", "end"))
    return (start, end) if 0 <= start < end <= len(document.text) else None


def _number(text: str) -> int:
    """A number that a request holds; -1 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else -1
