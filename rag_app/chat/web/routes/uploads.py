"""The only upload route: POST /files, the name in a header, the content as the body."""

from __future__ import annotations

from urllib.parse import unquote

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from indexing.errors import RagAppError, UnreadableFile
from indexing.message import joined
from rag_app.chat.application import Application
from rag_app.chat.language.current import speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.queues.disk import on_disk
from rag_app.chat.web.auth import user_of

PATH = "/files"
LONGEST_NAME = 2048


def add(web: FastAPI, app: Application) -> None:
    """Receive files and queue them for indexing.

    The stage of the reply is "exists" where another document has the name: nothing happens to it
    until somebody on the page says so.
    """

    async def upload(request: Request) -> JSONResponse:
        speak_to(request.headers)
        name = unquote(request.headers.get("x-name", "")[: 3 * LONGEST_NAME])[:LONGEST_NAME]
        try:
            owner = user_of(request.scope)
            received = await app.uploads.receive(name, request.stream(), owner=owner)
            status = await on_disk(app.ingest_queue.add, received)
        except UnreadableFile as error:
            reason = translated(joined([error.reason, error.remedy]))
            return JSONResponse({"error": reason}, 422)
        except RagAppError as error:
            return JSONResponse({"error": translated(str(error))}, 422)
        return JSONResponse({"name": status.title, "id": status.id, "stage": status.stage}, 201)

    web.add_api_route(PATH, upload, methods=["POST"], response_model=None)
