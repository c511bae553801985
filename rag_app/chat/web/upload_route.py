"""The only upload route: POST /files, the name in a header, the content as the body."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from indexing.errors import RagAppError, UnreadableFile

if TYPE_CHECKING:
    from rag_app.chat.application import Application

LONGEST_NAME = 2048


def add(web: FastAPI, app: Application) -> None:
    """Receive files and queue them for indexing."""

    async def upload(request: Request) -> JSONResponse:
        name = unquote(request.headers.get("x-name", "")[: 3 * LONGEST_NAME])[:LONGEST_NAME]
        try:
            saved_name = await app.uploads.receive(name, request.stream())
        except UnreadableFile as error:
            return JSONResponse({"error": f"{error.reason}; {error.remedy}"}, 422)
        except RagAppError as error:
            return JSONResponse({"error": str(error)}, 422)
        path = app.uploads.path(saved_name)
        if path is not None:
            app.ingest_queue.add([(saved_name, path)])
        return JSONResponse({"name": saved_name}, 201)

    web.add_api_route("/files", upload, methods=["POST"], response_model=None)
