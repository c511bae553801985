"""GET /changes: a mark of what a page shows, which differs once anything of it has changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

if TYPE_CHECKING:
    from rag_app.chat.application import Application

PATH = "/changes"


def add(web: FastAPI, app: Application) -> None:
    """Answer what a page asks every few seconds; nothing stays open in between."""

    async def changes(request: Request) -> PlainTextResponse:
        chats = request.query_params.get("chats", "")
        mark = await asyncio.to_thread(app.changes.mark, chats)
        return PlainTextResponse(mark, headers={"Cache-Control": "no-store"})

    web.add_api_route(PATH, changes, methods=["GET"], response_model=None)
